//! Who holds a permit only as long as nobody waits for one (W7).
//!
//! Each one that begins to wait has one guest leave, if there is one; a guest that comes while somebody waits for
//! whom nobody has left, leaves at once. Knows nothing of permits: those come back by being dropped, as ever.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

/// Has the guest go. False where it had gone before.
pub type Leave = dyn Fn() -> bool;

/// Guests and those who wait, the longest first. Whoever is no more has dropped its `Rc`.
#[derive(Default)]
pub struct Courtesy {
    guests: RefCell<VecDeque<Weak<Leave>>>,
    /// Those for whom nobody has left.
    waiting: RefCell<VecDeque<Weak<()>>>,
}

impl Courtesy {
    /// Somebody begins to wait, until what is returned is dropped.
    #[must_use]
    pub fn wait(&self) -> Rc<()> {
        let waiting = Rc::new(());
        if !self.one_leaves() {
            push(&self.waiting, Rc::downgrade(&waiting));
        }
        waiting
    }

    /// The longest guest leaves, if there is one.
    pub fn one_leaves(&self) -> bool {
        loop {
            // The borrow ends here: to leave may wake others.
            let Some(guest) = self.guests.borrow_mut().pop_front() else { return false };
            if guest.upgrade().is_some_and(|leave| leave()) {
                return true;
            }
        }
    }

    /// A guest stays until it is dropped or asked to leave, which may be now.
    pub fn stay(&self, guest: &Rc<Leave>) {
        loop {
            let Some(waiting) = self.waiting.borrow_mut().pop_front() else { break };
            if waiting.strong_count() > 0 {
                guest();
                return;
            }
        }
        push(&self.guests, Rc::downgrade(guest));
    }
}

/// Puts one more behind those that still are.
fn push<T: ?Sized>(line: &RefCell<VecDeque<Weak<T>>>, one: Weak<T>) {
    let mut line = line.borrow_mut();
    line.retain(|other| other.strong_count() > 0);
    line.push_back(one);
}

impl std::fmt::Debug for Courtesy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (guests, waiting) = (self.guests.borrow().len(), self.waiting.borrow().len());
        f.debug_struct("Courtesy").field("guests", &guests).field("waiting", &waiting).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn guest() -> (Rc<Leave>, Rc<Cell<u32>>) {
        let left = Rc::new(Cell::new(0));
        let seen = Rc::clone(&left);
        let leave: Rc<Leave> = Rc::new(move || {
            seen.set(seen.get() + 1);
            seen.get() == 1
        });
        (leave, left)
    }

    #[test]
    fn w7_as_many_leave_as_wait_the_longest_guest_first() {
        let courtesy = Courtesy::default();
        let guests: Vec<_> = (0..3).map(|_| guest()).collect();
        for (leave, _) in &guests {
            courtesy.stay(leave);
        }
        let left = || guests.iter().map(|(_, left)| left.get()).collect::<Vec<_>>();
        let _first = courtesy.wait();
        assert_eq!(left(), [1, 0, 0]);
        let _second = courtesy.wait();
        assert_eq!(left(), [1, 1, 0]);
    }

    #[test]
    fn w7_a_guest_that_finds_somebody_waiting_leaves_at_once_and_only_one_does() {
        let courtesy = Courtesy::default();
        let gone = courtesy.wait();
        drop(gone);
        let waits = courtesy.wait();
        let (first, second) = (guest(), guest());
        courtesy.stay(&first.0);
        courtesy.stay(&second.0);
        assert_eq!((first.1.get(), second.1.get()), (1, 0));
        drop(waits);
    }

    #[test]
    fn w7_who_has_gone_or_left_elsewhere_is_passed_over() {
        let courtesy = Courtesy::default();
        let (gone, left, stays) = (guest(), guest(), guest());
        for (leave, _) in [&gone, &left, &stays] {
            courtesy.stay(leave);
        }
        drop(gone.0);
        left.0();
        let _waits = courtesy.wait();
        assert_eq!((gone.1.get(), stays.1.get()), (0, 1));
    }
}
