//! The 16-bit types against the `half` crate.

use wick_core::scalar::half;

fn same(got: f32, want: f32) -> bool {
    (got.is_nan() && want.is_nan()) || got.to_bits() == want.to_bits()
}

#[test]
fn halves_widen_as_in_the_half_crate() {
    for h in 0..=u16::MAX {
        let (f, b) = (::half::f16::from_bits(h).to_f32(), ::half::bf16::from_bits(h).to_f32());
        assert!(same(half::f16_to_f32(h), f), "f16 {h:#x}");
        assert!(same(half::bf16_to_f32(h), b), "bf16 {h:#x}");
        // And back: every value is its own rounding, a NaN stays one.
        if f.is_nan() {
            assert!(::half::f16::from_bits(half::f32_to_f16(f)).is_nan());
        } else {
            assert_eq!(half::f32_to_f16(f), h);
        }
        if b.is_nan() {
            assert!(::half::bf16::from_bits(half::f32_to_bf16(b)).is_nan());
        } else {
            assert_eq!(half::f32_to_bf16(b), h);
        }
    }
}

#[test]
fn halves_narrow_as_in_the_half_crate() {
    let check = |x: f32| {
        let (f, b) = (::half::f16::from_f32(x), ::half::bf16::from_f32(x));
        let (mine, mine_b) = (half::f32_to_f16(x), half::f32_to_bf16(x));
        if x.is_nan() {
            assert!(
                ::half::f16::from_bits(mine).is_nan() && ::half::bf16::from_bits(mine_b).is_nan()
            );
        } else {
            assert_eq!((mine, mine_b), (f.to_bits(), b.to_bits()), "{x:e} {:#x}", x.to_bits());
        }
    };
    (0..=u32::MAX).step_by(1_021).map(f32::from_bits).for_each(check);
    // The ties between neighbours, and what lies next to them.
    for h in 0..u16::MAX {
        let wide = ::half::f16::from_bits(h).to_f32();
        let next = ::half::f16::from_bits(h + 1).to_f32();
        let middle = (wide as f64 + next as f64) / 2.0;
        for offset in -2i32..=2 {
            check(f32::from_bits((middle as f32).to_bits().wrapping_add_signed(offset)));
            check(f32::from_bits((((h as u32) << 16) | 0x8000).wrapping_add_signed(offset)));
        }
    }
    let wide: Vec<f32> = (0..100).map(|i| i as f32 * 0.37 - 20.0).collect();
    let (mut f, mut b, mut back) = ([0; 100], [0; 100], [0.0; 100]);
    half::f32_to_f16_slice(&wide, &mut f);
    half::f32_to_bf16_slice(&wide, &mut b);
    for i in 0..100 {
        assert_eq!((f[i], b[i]), (half::f32_to_f16(wide[i]), half::f32_to_bf16(wide[i])));
    }
    half::f16_to_f32_slice(&f, &mut back);
    assert!((0..100).all(|i| back[i] == half::f16_to_f32(f[i])));
    half::bf16_to_f32_slice(&b, &mut back);
    assert!((0..100).all(|i| back[i] == half::bf16_to_f32(b[i])));
}
