//! Memory planned ahead for work that is done again and again: which intermediates live together,
//! where each lies, how many runs may be under way at once.
//!
//! A `Manager` records lifetimes, a planner (`planner`) turns them into places, `PoolSet` holds the
//! memory of so many runs, and a run has one of them by a `Lease`. `trace` does the recording for
//! whole operations: it sees every storage that they ask for.

mod manager;
mod planner;
mod pool;
pub mod trace;

pub use manager::{Managed, Manager};
pub use planner::{Lifetime, Owner, Place, Plan, Strategy, lower_bound, plan};
pub use pool::{Lease, PoolSet};
