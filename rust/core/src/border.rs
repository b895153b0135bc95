//! The edges of planes: how far around an element a kernel reads, and what it takes for the elements
//! that are not there. Planes are the last two dimensions.

/// A number for each side of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Sides {
    pub top: i64,
    pub right: i64,
    pub bottom: i64,
    pub left: i64,
}

impl Sides {
    /// The same on all sides.
    pub const fn all(n: i64) -> Sides {
        Sides { top: n, right: n, bottom: n, left: n }
    }
}

/// Rows `[top, bottom)` and columns `[left, right)` of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Rect {
    pub top: i64,
    pub left: i64,
    pub bottom: i64,
    pub right: i64,
}

impl Rect {
    /// A whole plane.
    pub const fn of(height: i64, width: i64) -> Rect {
        Rect { top: 0, left: 0, bottom: height, right: width }
    }

    /// What lies in both.
    pub fn intersect(&self, o: &Rect) -> Rect {
        Rect {
            top: self.top.max(o.top),
            left: self.left.max(o.left),
            bottom: self.bottom.min(o.bottom),
            right: self.right.min(o.right),
        }
    }

    /// Without so much on each side.
    pub fn shrink(&self, by: &Sides) -> Rect {
        Rect {
            top: self.top + by.top,
            left: self.left + by.left,
            bottom: self.bottom - by.bottom,
            right: self.right - by.right,
        }
    }

    /// Whether nothing lies in it.
    pub fn is_empty(&self) -> bool {
        self.top >= self.bottom || self.left >= self.right
    }

    /// Whether the other lies in it.
    pub fn contains(&self, o: &Rect) -> bool {
        self.intersect(o) == *o
    }
}

/// What stands beyond the edge.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum BorderMode {
    /// Nothing: elements that would need it are not computed.
    Undefined,
    /// The nearest element.
    Replicate,
    /// A number.
    Constant(f64),
    /// The elements before the edge, mirrored; the edge itself once.
    Reflect,
}

impl BorderMode {
    /// The place that stands for one outside `[from, to)`, which is not empty; nothing where it is
    /// a number.
    #[inline(always)]
    pub fn place(self, at: i64, from: i64, to: i64) -> Option<i64> {
        if (from..to).contains(&at) {
            return Some(at);
        }
        match self {
            BorderMode::Replicate => Some(at.clamp(from, to - 1)),
            BorderMode::Reflect if to - from == 1 => Some(from),
            BorderMode::Reflect => {
                let last = to - from - 1;
                let turn = (at - from).rem_euclid(2 * last);
                Some(from + if turn > last { 2 * last - turn } else { turn })
            }
            BorderMode::Undefined | BorderMode::Constant(_) => None,
        }
    }
}

/// How far a kernel reaches around an element, and what it finds beyond the edge.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Border {
    pub size: Sides,
    pub mode: BorderMode,
}

impl Border {
    /// Of kernels that look at no neighbour.
    pub const NONE: Border = Border { size: Sides::all(0), mode: BorderMode::Undefined };
}

/// Which elements of its input one iteration of a kernel reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// The one at its place.
    Element,
    /// Those around its place, so far on each side.
    Rect(Sides),
    /// Any.
    Whole,
}
