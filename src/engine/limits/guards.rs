//! The guards together: where an attempt may go, and what it has to bring back.
//!
//! A primary is refused or made to wait in this order: every replica held after a Retry-After
//! (`backing_off`), the breaker (`breaker_open`), then the queue for a permit. A request that can't be built
//! comes before all of this (`invalid_request`): the runner lets it fail by itself where the transport can
//! tell. Everything that is handed out comes back by being dropped.

use super::backoff::Backoff;
use super::breaker::{Breaker, Rule, State, Ticket};
use super::courtesy::Leave;
use super::permits::{Permit, Permits, Place};
use super::rate::{Rate, SharedRate, Toll};
use crate::domain::guards::{Guards, Route};
use crate::domain::{EndpointId, Reason, Suppression};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The live state of a profile's guards. Times are from the session's start.
#[derive(Debug)]
pub struct LiveGuards {
    routes: Vec<Vec<Route>>,
    dependencies: Vec<Dependency>,
    hosts: Vec<Host>,
}

#[derive(Debug)]
struct Dependency {
    permits: Permits,
    breaker: Rc<RefCell<Breaker>>,
}

#[derive(Debug)]
struct Host {
    rate: Option<SharedRate>,
    backoff: Backoff,
}

/// What an attempt holds while it is under way.
#[derive(Debug, Default)]
pub struct Pass {
    /// Until the attempt is really gone.
    pub permit: Option<Permit>,
    /// Until its result is known.
    pub ticket: Option<Ticket>,
    /// Until it is sent.
    pub toll: Option<Toll>,
}

/// How an attempt gets on its way.
#[derive(Debug)]
pub enum Entry {
    /// At once.
    Free(Pass),
    /// When it is its turn, if it is still let through then.
    Queued(Place, Option<Toll>),
}

/// What a round has reserved for its primaries, by call.
#[derive(Debug, Default)]
pub struct Tolls(Vec<Option<Toll>>);

impl Tolls {
    /// What is reserved for a call.
    pub fn take(&mut self, call: EndpointId) -> Option<Toll> {
        self.0.get_mut(call.index())?.take()
    }
}

impl LiveGuards {
    /// Everything free, closed and quiet.
    #[must_use]
    pub fn new(guards: &Guards) -> Self {
        let dependency = |permits| Dependency {
            permits: Permits::new(permits),
            breaker: Rc::new(RefCell::new(Breaker::new(Rule::default()))),
        };
        let host = |limit: Option<f64>| Host {
            rate: limit.map(|limit| Rc::new(RefCell::new(Rate::new(limit)))),
            backoff: Backoff::default(),
        };
        Self {
            routes: guards.routes.clone(),
            dependencies: guards.dependencies.iter().map(|d| dependency(d.permits)).collect(),
            hosts: guards.hosts.iter().map(|h| host(h.max_rps)).collect(),
        }
    }

    fn routes(&self, call: EndpointId) -> &[Route] {
        self.routes.get(call.index()).map_or(&[], Vec::as_slice)
    }

    /// Whether back-off and breaker let an attempt through.
    fn open(&self, route: Route, now: Duration) -> Result<(), Reason> {
        if self.hosts.get(route.host).is_some_and(|h| h.backoff.held(now)) {
            return Err(Reason::BackingOff);
        }
        let breaker = self.dependencies.get(route.dependency).filter(|_| route.breaker);
        if breaker.is_some_and(|d| !d.breaker.borrow().admits(now)) {
            return Err(Reason::BreakerOpen);
        }
        Ok(())
    }

    /// The first replica from `first` on, wrapping, that is let through; of what refused the others, the
    /// breaker is named before the back-off: backing off is a call all of whose replicas are held.
    fn destination(&self, call: EndpointId, first: usize, now: Duration) -> Result<(usize, Route), Reason> {
        let routes = self.routes(call);
        let mut refused = Reason::BackingOff;
        for offset in 0..routes.len() {
            let replica = (first + offset) % routes.len();
            match self.open(routes[replica], now) {
                Ok(()) => return Ok((replica, routes[replica])),
                Err(Reason::BreakerOpen) => refused = Reason::BreakerOpen,
                Err(_) => {}
            }
        }
        Err(refused)
    }

    fn rate(&self, route: Route) -> Option<&SharedRate> {
        self.hosts.get(route.host)?.rate.as_ref()
    }

    fn permits(&self, route: Route) -> Option<&Permits> {
        self.dependencies.get(route.dependency).map(|d| &d.permits)
    }

    /// The breaker's leave, where the endpoint heeds one.
    fn ticket(&self, route: Route, now: Duration) -> Result<Option<Ticket>, Reason> {
        let Some(dependency) = self.dependencies.get(route.dependency).filter(|_| route.breaker) else {
            return Ok(None);
        };
        Ticket::ask(&dependency.breaker, now).map(Some).ok_or(Reason::BreakerOpen)
    }

    /// Reserves the primaries of a round of so many calls, all or none.
    ///
    /// # Errors
    /// When a host would get more than its rate (R39): the moment at which to ask again.
    pub fn reserve(&self, calls: usize, now: Duration) -> Result<Tolls, Duration> {
        if self.hosts.iter().all(|h| h.rate.is_none()) {
            return Ok(Tolls::default());
        }
        let to: Vec<Option<Route>> =
            (0..calls).map(|i| self.destination(EndpointId(i), 0, now).ok().map(|d| d.1)).collect();
        let mut counts = vec![0; self.hosts.len()];
        for route in to.iter().flatten() {
            counts.get_mut(route.host).into_iter().for_each(|count| *count += 1);
        }
        for (host, &count) in self.hosts.iter().zip(&counts) {
            if let Some(rate) = host.rate.as_ref().filter(|_| count > 0) {
                rate.borrow_mut().fits(count, now)?;
            }
        }
        let reserve = |route: Option<Route>| route.and_then(|r| self.rate(r)).map(Toll::reserve);
        Ok(Tolls(to.into_iter().map(reserve).collect()))
    }

    /// Where a primary goes and how. `toll` is what its round reserved for it.
    ///
    /// # Errors
    /// [`Reason::BackingOff`] or [`Reason::BreakerOpen`] where nothing is sent.
    pub fn primary(
        &self,
        call: EndpointId,
        toll: Option<Toll>,
        now: Duration,
    ) -> Result<(usize, Entry), Reason> {
        if self.routes(call).is_empty() {
            return Ok((0, Entry::Free(Pass::default())));
        }
        let (replica, route) = self.destination(call, 0, now)?;
        let toll = match (toll, self.rate(route)) {
            (Some(toll), Some(rate)) if toll.is_of(rate) => Some(toll),
            // Its round planned it for another replica, and that one is closed since.
            (_, Some(rate)) if rate.borrow_mut().fits(1, now).is_ok() => Some(Toll::reserve(rate)),
            (_, Some(_)) => return Err(Reason::BackingOff),
            (_, None) => None,
        };
        let permit = match self.permits(route) {
            None => None,
            Some(permits) => match permits.take() {
                None => return Ok((replica, Entry::Queued(permits.queue(), toll))),
                permit => permit,
            },
        };
        Ok((replica, Entry::Free(Pass { permit, ticket: self.ticket(route, now)?, toll })))
    }

    /// What is checked once a queued attempt has its permit: the world may have changed while it waited.
    ///
    /// # Errors
    /// As [`LiveGuards::primary`].
    pub fn enter(&self, call: EndpointId, replica: usize, now: Duration) -> Result<Option<Ticket>, Reason> {
        let Some(&route) = self.routes(call).get(replica) else { return Ok(None) };
        self.open(route, now)?;
        self.ticket(route, now)
    }

    /// Where a hedge goes and how; `next` is the replica whose turn it is. It waits for nobody but one who gives way
    /// (W7), until that one is really gone.
    ///
    /// # Errors
    /// What is short: the rate (or every replica is held), the breaker, a permit.
    pub fn hedge(&self, call: EndpointId, next: usize, now: Duration) -> Result<(usize, Entry), Suppression> {
        if self.routes(call).is_empty() {
            return Ok((next, Entry::Free(Pass::default())));
        }
        let suppression = |reason| match reason {
            Reason::BreakerOpen => Suppression::Breaker,
            _ => Suppression::Rate,
        };
        let (replica, route) = self.destination(call, next, now).map_err(suppression)?;
        let toll = match self.rate(route) {
            Some(rate) if rate.borrow_mut().fits(1, now).is_err() => return Err(Suppression::Rate),
            rate => rate.map(Toll::reserve),
        };
        let permit = match self.permits(route) {
            None => None,
            Some(permits) => match permits.take() {
                None => {
                    let place = permits.queue_for_guest().ok_or(Suppression::Permit)?;
                    return Ok((replica, Entry::Queued(place, toll)));
                }
                permit => permit,
            },
        };
        let ticket = self.ticket(route, now).map_err(suppression)?;
        Ok((replica, Entry::Free(Pass { permit, ticket, toll })))
    }

    /// An attempt on this replica gives its permit back as soon as somebody waits for it (W7), perhaps at once.
    pub fn give_way(&self, call: EndpointId, replica: usize, leave: &Rc<Leave>) {
        let route = self.routes(call).get(replica).copied();
        if let Some(permits) = route.and_then(|route| self.permits(route)) {
            permits.give_way(leave);
        }
    }

    /// An answer asked to be left alone.
    pub fn hold(&mut self, call: EndpointId, replica: usize, wait: Duration, now: Duration) {
        let route = self.routes(call).get(replica).copied();
        if let Some(host) = route.and_then(|r| self.hosts.get_mut(r.host)) {
            host.backoff.hold(wait, now);
        }
    }

    /// Breakers that are not closed.
    #[must_use]
    pub fn open_breakers(&self) -> usize {
        self.dependencies.iter().filter(|d| d.breaker.borrow().state() != State::Closed).count()
    }

    /// Hosts that are held.
    #[must_use]
    pub fn backing_off(&self, now: Duration) -> usize {
        self.hosts.iter().filter(|h| h.backoff.held(now)).count()
    }
}
