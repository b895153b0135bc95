//! Derivative of the logarithm of the gamma function.

#[inline(always)]
pub fn digamma_f32(x: f32) -> f32 {
    digamma_f64(x as f64) as f32
}

/// Asymptotic series (Abramowitz & Stegun 6.3.18) from 10 on; below, the recurrence (6.3.5)
/// leads up to it, and the reflection (6.3.7) turns negative arguments around.
pub fn digamma_f64(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        // Both are exact, so that next to a pole nothing cancels.
        let fraction = x - super::rounding::round_f64(x);
        if fraction == 0.0 || x.is_infinite() {
            return f64::NAN;
        }
        let angle = core::f64::consts::PI * fraction;
        return positive_digamma(1.0 - x) - core::f64::consts::PI / libm::tan(angle);
    }
    positive_digamma(x)
}

fn positive_digamma(mut x: f64) -> f64 {
    // Summed with what each addition loses: up to ten roundings would show.
    let (mut below, mut lost) = (0.0, 0.0);
    while x < 10.0 {
        let term = 1.0 / x;
        let sum = below + term;
        let kept = sum - below;
        lost += (below - (sum - kept)) + (term - kept);
        below = sum;
        x += 1.0;
    }
    if x.is_infinite() {
        return x;
    }
    let z = 1.0 / (x * x);
    // B₂ₖ/2k
    let series = z * poly!(z; 1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0,
        -691.0 / 32760.0, 1.0 / 12.0, -3617.0 / 8160.0);
    (libm::log(x) - below) - (0.5 / x + series + lost)
}
