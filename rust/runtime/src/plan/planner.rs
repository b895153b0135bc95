//! Where intermediates lie, from when they live: each as a tenant of a blob, or at an offset of one
//! block.

/// Bytes that are needed from one step to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Lifetime {
    pub bytes: usize,
    /// A power of two; 0 asks for none.
    pub align: usize,
    /// The first step that needs it.
    pub start: usize,
    /// The first step that does not need it any more.
    pub end: usize,
}

impl Lifetime {
    fn meets(&self, other: &Lifetime) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// How places are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// A block for each intermediate that lives at once with the others, the next one its tenant.
    Blob,
    /// One block, in which intermediates lie side by side.
    Offset,
}

impl Strategy {
    /// From its number: 0 blobs, 1 offsets.
    pub fn from_code(code: i32) -> Option<Strategy> {
        [Strategy::Blob, Strategy::Offset].get(usize::try_from(code).ok()?).copied()
    }
}

/// Where an intermediate lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Place {
    pub block: usize,
    pub offset: usize,
}

/// A block of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Owner {
    pub bytes: usize,
    pub align: usize,
    /// Intermediates that lie in it, one after the other or side by side.
    pub owners: usize,
}

/// Places for all intermediates of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// One for each lifetime, in their order.
    pub places: Vec<Place>,
    /// The largest first.
    pub blocks: Vec<Owner>,
}

impl Plan {
    /// Bytes of all blocks.
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|b| b.bytes).sum()
    }
}

/// The most bytes that live at one step: no plan has fewer.
pub fn lower_bound(lifetimes: &[Lifetime]) -> usize {
    let alive = |step: usize| {
        let here = |l: &&Lifetime| l.start <= step && step < l.end;
        lifetimes.iter().filter(here).map(|l| l.bytes).sum::<usize>()
    };
    lifetimes.iter().map(|l| alive(l.start)).max().unwrap_or(0)
}

/// Places for intermediates with these lifetimes.
pub fn plan(strategy: Strategy, lifetimes: &[Lifetime]) -> Plan {
    match strategy {
        Strategy::Blob => blobs(lifetimes),
        Strategy::Offset => offsets(lifetimes),
    }
}

/// Intermediates in the order in which they begin; each takes the free blob that it fits best: the
/// smallest that is large enough, else the largest, which grows.
fn blobs(lifetimes: &[Lifetime]) -> Plan {
    let mut order: Vec<usize> = (0..lifetimes.len()).collect();
    order.sort_by_key(|&i| lifetimes[i].start);
    let mut blobs: Vec<(Owner, usize)> = Vec::new();
    let mut places = vec![Place { block: 0, offset: 0 }; lifetimes.len()];
    for i in order {
        let l = &lifetimes[i];
        let free = (0..blobs.len()).filter(|&b| blobs[b].1 <= l.start);
        let fits = |b: &usize| {
            let bytes = blobs[*b].0.bytes;
            if bytes >= l.bytes { (0, bytes) } else { (1, usize::MAX - bytes) }
        };
        let block = free.min_by_key(fits).unwrap_or_else(|| {
            blobs.push(Default::default());
            blobs.len() - 1
        });
        let (blob, until) = &mut blobs[block];
        *blob = Owner {
            bytes: blob.bytes.max(l.bytes),
            align: blob.align.max(l.align),
            owners: blob.owners + 1,
        };
        *until = l.end;
        places[i].block = block;
    }
    // The largest first: so plans of several groups can share blobs by their place in the order.
    let mut order: Vec<usize> = (0..blobs.len()).collect();
    order.sort_by_key(|&b| std::cmp::Reverse(blobs[b].0.bytes));
    let mut rank = vec![0; blobs.len()];
    for (at, &b) in order.iter().enumerate() {
        rank[b] = at;
    }
    places.iter_mut().for_each(|p| p.block = rank[p.block]);
    Plan { places, blocks: order.into_iter().map(|b| blobs[b].0).collect() }
}

/// An order: those with lower keys first.
type Order = fn(&Lifetime) -> (usize, usize);

/// The orders in which intermediates are given their places; which is best depends on the run.
const ORDERS: [Order; 3] = [
    |l| (usize::MAX - l.bytes, l.start),
    |l| (l.start, usize::MAX - l.bytes),
    |l| (usize::MAX - l.bytes.saturating_mul(l.end - l.start), l.start),
];

/// The best of several orders, each intermediate in the smallest gap between those that live with it
/// and were placed before (greedy by size: Pisarchyk and Lee 2020).
fn offsets(lifetimes: &[Lifetime]) -> Plan {
    let mut best: Option<(usize, Vec<usize>)> = None;
    let bound = lower_bound(lifetimes);
    for key in ORDERS {
        let (bytes, places) = place(lifetimes, key);
        if best.as_ref().is_none_or(|(b, _)| bytes < *b) {
            best = Some((bytes, places));
        }
        if bytes == bound {
            break;
        }
    }
    let (bytes, offsets) = best.unwrap_or_default();
    let align = lifetimes.iter().map(|l| l.align).max().unwrap_or(0);
    let blocks = vec![Owner { bytes, align, owners: lifetimes.len() }];
    let places = offsets.into_iter().map(|offset| Place { block: 0, offset }).collect();
    Plan { places, blocks: if lifetimes.is_empty() { Vec::new() } else { blocks } }
}

fn place(lifetimes: &[Lifetime], key: Order) -> (usize, Vec<usize>) {
    let mut order: Vec<usize> = (0..lifetimes.len()).collect();
    order.sort_by_key(|&i| key(&lifetimes[i]));
    let mut offsets = vec![0usize; lifetimes.len()];
    // Placed ones by offset.
    let mut placed: Vec<usize> = Vec::new();
    let mut total = 0;
    for i in order {
        let l = &lifetimes[i];
        let align = |at: usize| at.next_multiple_of(l.align.max(1));
        let mut at = 0;
        let mut best: Option<(usize, usize)> = None;
        for &other in placed.iter().filter(|&&other| lifetimes[other].meets(l)) {
            let start = align(at);
            if let Some(gap) = offsets[other].checked_sub(start + l.bytes)
                && best.is_none_or(|(smallest, _)| gap < smallest)
            {
                best = Some((gap, start));
            }
            at = at.max(offsets[other] + lifetimes[other].bytes);
        }
        let offset = best.map_or(align(at), |(_, start)| start);
        offsets[i] = offset;
        total = total.max(offset + l.bytes);
        let after = placed.partition_point(|&other| offsets[other] <= offset);
        placed.insert(after, i);
    }
    (total, offsets)
}
