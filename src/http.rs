//! [`Transport`](crate::engine::transport::Transport) over reqwest. The only room that knows an HTTP client.
