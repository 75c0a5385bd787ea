//! Faults to order, in debug builds only: calls of the first endpoint panic where a test asks for it, or the engine
//! itself does.

use crate::domain::EndpointId;
use crate::engine::transport::{AttemptFuture, AttemptRequest, Trace, Transport};

/// A transport whose first endpoint panics while `FANSCOPE_TEST_PANIC` is `call`. While it is `engine`, asking whether
/// a call that has to wait can be built panics, which is outside of every call.
pub(super) struct Planted<T>(pub(super) T);

impl<T: Transport> Transport for Planted<T> {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        assert!(!wanted("call") || request.endpoint != EndpointId(0), "planted panic");
        self.0.attempt(request, trace)
    }

    fn can_build(&self, request: AttemptRequest) -> bool {
        assert!(!wanted("engine"), "planted panic");
        self.0.can_build(request)
    }
}

fn wanted(what: &str) -> bool {
    std::env::var_os("FANSCOPE_TEST_PANIC").is_some_and(|wanted| wanted == what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RoundNo;

    /// Can build the first replica only.
    struct Picky;

    impl Transport for Picky {
        fn attempt(&self, _: AttemptRequest, _: Trace) -> AttemptFuture {
            Box::pin(async { Ok(()) })
        }

        fn can_build(&self, request: AttemptRequest) -> bool {
            request.replica == 0
        }
    }

    #[test]
    fn r4_what_cannot_be_built_is_asked_of_the_transport_inside() {
        let asked = |replica| {
            let request = AttemptRequest { round: RoundNo(1), endpoint: EndpointId(0), replica, attempt: 0 };
            Planted(Picky).can_build(request)
        };
        assert!(asked(0) && !asked(1));
    }
}
