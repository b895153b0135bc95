//! Windows and how they are split: AC-04, AC-05, AC-06.

use proptest::prelude::*;
use wick_core::{Dim, Window};

fn dims() -> impl Strategy<Value = Vec<Dim>> {
    let dim = (-5i64..5, 0i64..40, 1i64..6);
    let dim = dim.prop_map(|(start, length, step)| Dim { start, end: start + length, step });
    proptest::collection::vec(dim, 1..4)
}

/// The iterations of a dimension.
fn iterations(d: Dim) -> Vec<i64> {
    (d.start..d.end).step_by(d.step as usize).collect()
}

proptest! {
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

    #[test]
    fn what_breaks_a_rule_is_no_part(length in 4i64..40, step in 2i64..6) {
        let whole = Window::new(&[Dim { start: 0, end: length * step, step }]);
        let one = |start, end, step| Window::new(&[Dim { start, end, step }]);
        prop_assert!(whole.contains(&one(step, 2 * step, step)));
        prop_assert!(!whole.contains(&one(-step, step, step)), "starts outside");
        prop_assert!(!whole.contains(&one(0, (length + 1) * step, step)), "ends outside");
        prop_assert!(!whole.contains(&one(0, step, step + 1)), "another step");
        prop_assert!(!whole.contains(&one(1, 1 + step, step)), "starts between steps");
        prop_assert!(!whole.contains(&one(0, step + 1, step)), "ends between steps");
    }
}

/// An empty dimension gives no iteration, a window without dimensions one.
#[test]
fn empty_windows() {
    assert_eq!(Window::flat(0).iterations(), 0);
    assert_eq!(Window::new(&[Dim::upto(3), Dim::upto(0)]).iterations(), 0);
    assert_eq!(Window::new(&[]).iterations(), 1);
    assert_eq!(Window::flat(0).split(0, 1, 3).iterations(), 0);
}
