//! A fault to order, in debug builds only: calls of the first endpoint panic where a test asks for it.

use crate::domain::EndpointId;
use crate::engine::transport::{AttemptFuture, AttemptRequest, Trace, Transport};

/// A transport whose first endpoint panics while `FANSCOPE_TEST_PANIC` is `call`.
pub(super) struct Planted<T>(pub(super) T);

impl<T: Transport> Transport for Planted<T> {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        let wanted = std::env::var_os("FANSCOPE_TEST_PANIC").is_some_and(|what| what == "call");
        assert!(!wanted || request.endpoint != EndpointId(0), "planted panic");
        self.0.attempt(request, trace)
    }
}
