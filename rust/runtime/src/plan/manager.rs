//! Recording lifetimes by hand: groups of intermediates that share the memory of one pool.

use std::sync::Arc;
use std::time::Duration;

use super::planner::{Lifetime, Owner, Plan, Strategy, plan};
use super::pool::{Lease, PoolSet};
use crate::context::Context;
use crate::error::{Error, Kind, Result};

/// An intermediate of a group, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Managed {
    group: usize,
    index: usize,
}

impl Managed {
    /// That of a number.
    pub fn new(group: usize, index: usize) -> Managed {
        Managed { group, index }
    }

    /// Its number in the group.
    pub fn index(&self) -> usize {
        self.index
    }
}

/// One run's worth of intermediates; used by one thread, as it is being recorded.
#[derive(Default)]
struct Group {
    lifetimes: Vec<Lifetime>,
    step: usize,
    plan: Plan,
}

/// Groups of intermediates and the pools that they run in. Groups share pools: two never run in one
/// at once, so a pool is as large as the larger of them.
pub struct Manager {
    strategy: Strategy,
    wipe: bool,
    groups: Vec<Group>,
    pools: Option<Arc<PoolSet>>,
}

fn refused(what: &str) -> Error {
    Kind::State { op: "memory manager", expected: what.to_owned().into() }.into()
}

impl Manager {
    /// Without groups; `wipe` has memory cleared when a run is over.
    pub fn new(strategy: Strategy, wipe: bool) -> Manager {
        Manager { strategy, wipe, groups: Vec::new(), pools: None }
    }

    fn unpopulated(&self, what: &str) -> Result<()> {
        if self.pools.is_some() {
            return Err(refused(&format!("{what} after populate: clear it first")));
        }
        Ok(())
    }

    /// A new group.
    pub fn group(&mut self) -> Result<usize> {
        self.unpopulated("a new group")?;
        self.groups.push(Group::default());
        Ok(self.groups.len() - 1)
    }

    /// Begins the life of an intermediate of a group.
    pub fn manage(&mut self, group: usize, bytes: usize, align: usize) -> Result<Managed> {
        self.unpopulated("a new intermediate")?;
        if !(align == 0 || align.is_power_of_two()) {
            return Err(refused(&format!("an alignment of {align}, which is no power of two")));
        }
        let group_of = self.groups.get_mut(group).ok_or_else(|| refused("an unknown group"))?;
        let start = group_of.step;
        group_of.step += 1;
        group_of.lifetimes.push(Lifetime { bytes, align, start, end: usize::MAX });
        Ok(Managed { group, index: group_of.lifetimes.len() - 1 })
    }

    /// Ends it: later intermediates may lie in its place.
    pub fn end(&mut self, managed: Managed) -> Result<()> {
        self.unpopulated("the end of a life")?;
        let unknown = || refused("an intermediate that it does not know");
        let group = self.groups.get_mut(managed.group).ok_or_else(unknown)?;
        let life = group.lifetimes.get_mut(managed.index).ok_or_else(unknown)?;
        if life.end != usize::MAX {
            return Err(refused("a life that has ended"));
        }
        life.end = group.step;
        group.step += 1;
        Ok(())
    }

    /// Plans, and makes so many pools: as many runs may be under way at once. All lives have ended.
    pub fn populate(&mut self, ctx: &Context, pools: usize) -> Result<()> {
        self.unpopulated("populate")?;
        if pools == 0 {
            return Err(refused("no pool: at least 1 is needed"));
        }
        if self.groups.iter().any(|g| g.lifetimes.iter().any(|l| l.end == usize::MAX)) {
            return Err(refused("an intermediate whose life has not ended"));
        }
        for group in &mut self.groups {
            group.plan = plan(self.strategy, &group.lifetimes);
        }
        self.pools = Some(Arc::new(PoolSet::new(ctx, &self.blocks(), pools, self.wipe)?));
        Ok(())
    }

    /// The blocks of a pool: at each place the largest of the groups'.
    pub fn blocks(&self) -> Vec<Owner> {
        let mut blocks: Vec<Owner> = Vec::new();
        for group in &self.groups {
            blocks.resize(blocks.len().max(group.plan.blocks.len()), Owner::default());
            for (block, own) in blocks.iter_mut().zip(&group.plan.blocks) {
                block.bytes = block.bytes.max(own.bytes);
                block.align = block.align.max(own.align);
                block.owners += own.owners;
            }
        }
        blocks
    }

    /// Frees the pools, none of which may be in use.
    pub fn clear(&mut self) -> Result<()> {
        if let Some(pools) = &self.pools {
            pools.close()?;
        }
        self.pools = None;
        Ok(())
    }

    /// The pools, once there are any.
    pub fn pools(&self) -> Result<&Arc<PoolSet>> {
        self.pools.as_ref().ok_or_else(|| refused("no pools: populate first"))
    }

    /// A pool for a run.
    pub fn acquire(&self, timeout: Duration) -> Result<Lease> {
        PoolSet::acquire(self.pools()?, timeout)
    }

    /// Where an intermediate lies in a leased pool, and its bytes.
    pub fn place(&self, managed: Managed) -> Result<(super::Place, usize)> {
        self.pools()?;
        let unknown = || refused("an intermediate that it does not know");
        let group = self.groups.get(managed.group).ok_or_else(unknown)?;
        let place = group.plan.places.get(managed.index).ok_or_else(unknown)?;
        Ok((*place, group.lifetimes[managed.index].bytes))
    }
}
