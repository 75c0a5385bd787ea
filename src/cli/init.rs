//! The arguments of `fanscope init`.

use clap::Args;
use std::path::PathBuf;

const SOURCES: &str = "\
Examples:
  fanscope init -o my.toml                      a commented profile to start from
  fanscope init https://a.example/x https://b.example/y
  pbpaste | fanscope init --curl -o page.toml   \"Copy as cURL (bash)\" of a browser
  fanscope init --har page.har -o page.toml     a network log that a browser saved
  fanscope init --openapi api.json --server https://staging.example

What is secret (credentials, cookies, keys, tokens) is not written: it becomes ${VARIABLE}, and the
profile says at its head which variables to set.";

/// `fanscope init`
#[derive(Debug, Args)]
#[command(after_help = SOURCES)]
pub struct Init {
    /// An endpoint for each of these; without any source, a profile to start from
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// Read curl commands from standard input
    #[arg(long, conflicts_with = "urls")]
    pub curl: bool,
    /// Read a HAR; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["urls", "curl"])]
    pub har: Option<PathBuf>,
    /// Read the description of an API (openapi 3, as JSON); - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["urls", "curl", "har"])]
    pub openapi: Option<PathBuf>,
    /// The server to ask instead of the one that the description names
    #[arg(long, value_name = "URL", requires = "openapi")]
    pub server: Option<String>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Let it replace a file
    #[arg(long, requires = "output")]
    pub force: bool,
}
