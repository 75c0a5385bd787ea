//! The system's resolver: nsswitch, mDNS, split DNS. It can't be stopped, so it has threads of its own.

use super::{Lookup, LookupError, some};
use futures_util::FutureExt;
use futures_util::future::Shared;
use std::collections::HashMap;
use std::net::ToSocketAddrs;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// Lookups under way, by name.
#[derive(Default)]
pub(super) struct System {
    running: Arc<Mutex<HashMap<String, Shared<Lookup>>>>,
}

impl System {
    /// The lookup of a name: the one under way, or a new one.
    pub(super) fn lookup(&self, name: &str) -> Shared<Lookup> {
        let mut table = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // Held until the thread is done, also when every caller is gone: getaddrinfo can't be stopped, and a
        // second thread would only queue up behind the first.
        if let Some(shared) = table.get(name) {
            return shared.clone();
        }
        let (tell, told) = oneshot::channel();
        let (asked, others) = (name.to_owned(), Arc::clone(&self.running));
        let thread = std::thread::Builder::new().name("fanscope-dns".to_owned()).spawn(move || {
            let answer = (asked.as_str(), 0)
                .to_socket_addrs()
                .map_err(|e| LookupError::io(&e).or_ours())
                .and_then(|found| some(found.map(|a| a.ip()).collect()));
            others.lock().unwrap_or_else(PoisonError::into_inner).remove(&asked);
            // Nobody listens where all callers were cut.
            let _ = tell.send(answer);
        });
        if let Err(error) = thread {
            return std::future::ready(Err(LookupError::io(&error))).boxed().shared();
        }
        let lookup = async { told.await.unwrap_or_else(|_| Err(LookupError::new("the lookup ended"))) };
        let shared = lookup.boxed().shared();
        table.insert(name.to_owned(), shared.clone());
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn d02_a_name_that_is_being_looked_up_gets_no_second_thread() {
        let system = System::default();
        // One under way whose callers were all cut.
        let (tell, told) = oneshot::channel::<super::super::Answer>();
        let lookup = async { told.await.unwrap_or_else(|_| Err(LookupError::new("ended"))) }.boxed().shared();
        system.running.lock().expect("a table").insert("slow.example".to_owned(), lookup);
        let again: Vec<_> = (0..64).map(|_| system.lookup("slow.example")).collect();
        assert_eq!(system.running.lock().expect("a table").len(), 1);
        let address = std::net::IpAddr::from([192, 0, 2, 1]);
        tell.send(Ok([address].into())).expect("somebody listens");
        for lookup in again {
            // What this test told, and no answer of a thread.
            assert_eq!(*lookup.await.expect("an answer"), [address]);
        }
    }
}
