//! Windows, how they are split and walked: AC-04, AC-05, AC-06, AC-07.

use proptest::prelude::*;
use wick_core::{Dim, Rule, Window};

fn dims() -> impl Strategy<Value = Vec<Dim>> {
    let dim = (-5i64..5, 0i64..40, 1i64..6);
    let dim = dim.prop_map(|(start, length, step)| Dim { start, end: start + length, step });
    proptest::collection::vec(dim, 1..4)
}

/// The iterations of a dimension.
fn iterations(d: Dim) -> Vec<i64> {
    (d.start..d.end).step_by(d.step as usize).collect()
}

/// All places of a window, in order.
fn places(w: &Window) -> Vec<Vec<i64>> {
    let mut out = vec![vec![]];
    for d in w.dims() {
        let longer = |p: &Vec<i64>, i: i64| p.iter().copied().chain([i]).collect();
        out = out
            .iter()
            .flat_map(|p| iterations(*d).into_iter().map(move |i| longer(p, i)))
            .collect();
    }
    out
}

proptest! {
    /// AC-05, AC-06: the parts are the whole, one after the other, and keep the five rules.
    #[test]
    fn parts_are_the_whole_in_order(dims in dims(), which in 0usize..3, total in 1usize..9) {
        let whole = Window::new(&dims);
        let d = which % dims.len();
        let parts: Vec<Window> = (0..total).map(|id| whole.split(d, id, total)).collect();
        let joined: Vec<i64> = parts.iter().flat_map(|p| iterations(p.dim(d))).collect();
        prop_assert_eq!(joined, iterations(whole.dim(d)));
        for part in &parts {
            prop_assert!(whole.contains(part), "{:?} of {:?}", part, whole);
            for other in (0..dims.len()).filter(|o| *o != d) {
                prop_assert_eq!(part.dim(other), whole.dim(other));
            }
        }
        let counts: Vec<i64> = parts.iter().map(|p| p.dim(d).iterations()).collect();
        let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
        prop_assert!(spread <= 1, "{:?}", counts);
    }

    #[test]
    fn iterations_are_counted(dims in dims()) {
        let counted = dims.iter().map(|d| iterations(*d).len() as i64).product::<i64>();
        prop_assert_eq!(Window::new(&dims).iterations(), counted);
    }

    /// AC-05: each of the five rules is told apart.
    #[test]
    fn what_breaks_a_rule_is_no_part(length in 4i64..40, step in 2i64..6) {
        let whole = Window::new(&[Dim { start: 0, end: length * step - 1, step }]);
        let one = |start, end, step| Window::new(&[Dim { start, end, step }]);
        let rule = |part| whole.broken(&part).map(|(_, rule)| rule);
        prop_assert!(whole.contains(&one(step, 2 * step, step)));
        prop_assert!(whole.contains(&one(step, length * step - 1, step)), "the rest");
        prop_assert!(whole.contains(&one(step, step, step)), "an empty one");
        prop_assert_eq!(rule(one(-step, step, step)), Some(Rule::Start));
        prop_assert_eq!(rule(one(0, (length + 1) * step, step)), Some(Rule::End));
        prop_assert_eq!(rule(one(0, step, step + 1)), Some(Rule::Step));
        prop_assert_eq!(rule(one(1, 1 + step, step)), Some(Rule::Alignment));
        prop_assert_eq!(rule(one(0, step + 1, step)), Some(Rule::Length));
        prop_assert_eq!(rule(Window::new(&[])), Some(Rule::Rank));
        prop_assert_eq!(rule(one(i64::MIN, i64::MAX, step)), Some(Rule::Start));
        prop_assert!(whole.contains(&one(0, i64::MIN, step)) || rule(one(0, i64::MIN, step)).is_some());
    }

    /// AC-06: a grid of parts covers every place once.
    #[test]
    fn grids_cover(dims in dims(), rows in 1usize..4, columns in 1usize..4) {
        let whole = Window::new(&dims);
        let last = dims.len() - 1;
        let grid = [(0, rows), (last, columns)];
        let parts = (0..rows * columns).map(|id| whole.split_nd(&grid, id));
        let mut found: Vec<_> = parts.flat_map(|p| places(&p)).collect();
        found.sort_unstable();
        let mut wanted = places(&whole);
        wanted.sort_unstable();
        prop_assert!(last == 0 || found == wanted);
    }

    /// AC-07: slices are parts that cover the whole in order, and each follows the step.
    #[test]
    fn slices_follow_the_step(dims in dims(), inner in 0usize..4) {
        let whole = Window::new(&dims);
        let slices: Vec<Window> = whole.slices(inner).collect();
        for slice in &slices {
            prop_assert!(whole.contains(slice), "{:?} of {:?}", slice, whole);
        }
        prop_assert_eq!(slices.iter().flat_map(places).collect::<Vec<_>>(), places(&whole));
    }

    /// AC-36: rows come in order, with the place where they start.
    #[test]
    fn rows_in_order(dims in dims()) {
        let whole = Window::new(&dims);
        let mut found = vec![];
        whole.for_each_row(|place, row| {
            for i in iterations(row) {
                let mut place = place.to_vec();
                *place.last_mut().unwrap() = i;
                found.push(place);
            }
        });
        prop_assert_eq!(found, places(&whole));
    }

    /// AC-07: shift and adjust move what they say, scale never loses a covered place.
    #[test]
    fn moved(dims in dims(), by in -9i64..9, times in 1i64..4, per in 1i64..4) {
        let whole = Window::new(&dims);
        let d = whole.dim(0);
        let moved: Vec<i64> = iterations(d).iter().map(|i| i + by).collect();
        prop_assert_eq!(iterations(whole.shift(0, by).dim(0)), moved);
        prop_assert_eq!(whole.adjust(0, by, true).dim(0), Dim { start: d.start + by, ..d });
        prop_assert_eq!(whole.adjust(0, by, false).dim(0), Dim { end: d.end + by, ..d });
        let scaled = whole.scale(0, times, per).dim(0);
        prop_assert!(scaled.start * per <= d.start * times && scaled.end * per >= d.end * times);
        prop_assert!((scaled.start + 1) * per > d.start * times && (scaled.end - 1) * per < d.end * times);
    }
}

/// AC-07: dimensions become one where they are whole, from 0 and by 1, and not else.
#[test]
fn collapsed() {
    let full = Window::new(&[2, 3, 4, 5].map(Dim::upto));
    let two = full.collapse(&full, 1, 2).unwrap();
    assert_eq!(two.dims(), [2, 12, 5].map(Dim::upto));
    assert_eq!(full.collapse(&full, 0, 3).unwrap(), Window::flat(120));
    assert_eq!(full.collapse(&full, 2, 2), Some(full));
    let part = full.split(1, 0, 2);
    assert_eq!(part.collapse(&full, 1, 2), None, "not whole");
    assert_eq!(part.collapse(&full, 2, 3).unwrap().dims()[2], Dim::upto(20));
    let shifted = full.shift(2, 1);
    assert_eq!(shifted.collapse(&shifted, 2, 3), None, "not from 0");
    let stepped = full.with(3, Dim { start: 0, end: 5, step: 2 });
    assert_eq!(stepped.collapse(&stepped, 2, 3), None, "not by 1");
    assert_eq!(full.collapse(&full, 1, 4), None, "no such dimension");
}

/// AC-07: an operand of size 1 stays where it is, in one iteration that needs no division.
#[test]
fn broadcast() {
    let whole = Window::new(&[2, 3, 4].map(Dim::upto));
    let row = whole.broadcast(&[1, 4]);
    assert_eq!(row.dims(), [Dim { start: 0, end: 1, step: 0 }, Dim::upto(4)]);
    assert_eq!(row.iterations(), 4);
    assert_eq!(row.dim(0).iterations(), 1);
    assert!(row.contains(&row) && row.split(0, 1, 2).iterations() == 0);
    assert_eq!(whole.broadcast(&[2, 3, 4]), whole);
    let mut rows = 0;
    row.for_each_row(|_, _| rows += 1);
    assert_eq!(rows, 1);
}

/// AC-04: an empty dimension gives no iteration, a window without dimensions one.
#[test]
fn empty_windows() {
    assert_eq!(Window::flat(0).iterations(), 0);
    assert_eq!(Window::new(&[Dim::upto(3), Dim::upto(0)]).iterations(), 0);
    assert_eq!(Window::new(&[]).iterations(), 1);
    assert_eq!(Window::flat(0).split(0, 1, 3).iterations(), 0);
}
