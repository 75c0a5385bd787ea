//! Barrier rounds with nothing but reqwest, set up as fanscope sets it up.

use crate::client::client;
use crate::engine::{cpu, quantile};
use crate::{Cost, Measured, calls};
use futures_util::stream::{FuturesUnordered, StreamExt};
use http_body_util::BodyExt;
use reqwest::header::{ACCEPT_ENCODING, HeaderValue};
use rustix::time::ClockId;
use std::time::{Duration, Instant};

pub fn run(url: &str, width: u64, rounds: u64) -> Measured<Cost> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = client()?;
        let url = reqwest::Url::parse(url)?;
        let mut took = Vec::new();
        let of = |clock| cpu(clock);
        let before = (of(ClockId::ThreadCPUTime), of(ClockId::ProcessCPUTime));
        for _ in 0..rounds {
            let began = Instant::now();
            let mut running: FuturesUnordered<_> = (0..width).map(|_| call(&client, url.clone())).collect();
            while let Some(done) = running.next().await {
                done?;
            }
            took.push(began.elapsed());
        }
        let each = |after: Duration, before| after.saturating_sub(before).div_f64(calls(width, rounds));
        let thread = each(of(ClockId::ThreadCPUTime), before.0);
        let process = each(of(ClockId::ProcessCPUTime), before.1);
        took.sort_unstable();
        Ok(Cost { round: quantile(&took, 50), thread, process })
    })
}

async fn call(client: &reqwest::Client, url: reqwest::Url) -> Measured<()> {
    let mut request = reqwest::Request::new(reqwest::Method::GET, url);
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    let response = client.execute(request).await?;
    if response.status() != reqwest::StatusCode::OK {
        return Err("not every call was answered".into());
    }
    let mut body = reqwest::Body::from(response);
    while let Some(frame) = body.frame().await {
        frame?;
    }
    Ok(())
}
