//! Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC11):
//! 128 random bits as a function of a key and a counter, so that any place of the stream is as near
//! as the first.

/// Counters that are enciphered side by side: enough for two AVX-512 registers.
pub const LANES: usize = 16;

/// The words of [`LANES`] counters: `words[w][lane]`.
pub type Words = [[u32; LANES]; 4];

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// The four words of one counter. They are held in 64 bits, as the products are that a vector
/// unit's widening multiplication gives.
#[inline(always)]
fn rounds(key: [u32; 2], counter: [u32; 4]) -> [u32; 4] {
    let mut key = key;
    let mut c = counter.map(u64::from);
    for _ in 0..ROUNDS {
        let low = 0xffff_ffff;
        let p = MULTIPLIERS[0] * c[0];
        let q = MULTIPLIERS[1] * c[2];
        c = [
            (q >> 32) ^ c[1] ^ u64::from(key[0]),
            q & low,
            (p >> 32) ^ c[3] ^ u64::from(key[1]),
            p & low,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    c.map(|w| w as u32)
}

/// The lower and the upper word.
pub(super) fn halves(v: u64) -> [u32; 2] {
    [v as u32, (v >> 32) as u32]
}

/// The block of one counter.
pub fn block(key: [u32; 2], counter: [u32; 4]) -> [u32; 4] {
    rounds(key, counter)
}

/// The words of a step of a seed's stream: its lanes are the counters `(step, lane, 0)`.
#[inline(always)]
pub fn step(seed: u64, step: u64) -> Words {
    let (key, [low, high]) = (halves(seed), halves(step));
    let mut words = [[0; LANES]; 4];
    for lane in 0..LANES {
        let w = rounds(key, [low, high, lane as u32, 0]);
        for (row, word) in words.iter_mut().zip(w) {
            row[lane] = word;
        }
    }
    words
}

/// The seed of the stream that is split off at a step: from a counter that no draw uses.
pub fn split(seed: u64, step: u64) -> u64 {
    let [low, high] = halves(step);
    let [a, b, ..] = rounds(halves(seed), [low, high, 0, 1]);
    u64::from(a) | u64::from(b) << 32
}

/// A step's words as numbers of 64 bits.
#[inline(always)]
pub fn longs(words: &Words) -> [u64; 2 * LANES] {
    let mut out = [0; 2 * LANES];
    for half in 0..2 {
        for lane in 0..LANES {
            let (low, high) = (words[2 * half][lane], words[2 * half + 1][lane]);
            out[half * LANES + lane] = u64::from(low) | u64::from(high) << 32;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The authors' known answers.
    #[test]
    fn known_answers() {
        let cases = [
            ([0, 0], [0; 4], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 2], [u32::MAX; 4], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0xa409_3822, 0x299f_31d0],
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (key, counter, expected) in cases {
            assert_eq!(block(key, counter), expected);
        }
    }

    #[test]
    fn lanes_are_counters() {
        let (seed, at) = (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
        let words = step(seed, at);
        for lane in 0..LANES {
            let [low, high] = halves(at);
            let expected = block(halves(seed), [low, high, lane as u32, 0]);
            assert_eq!(words.map(|row| row[lane]), expected);
        }
        let longs = longs(&words);
        assert_eq!(longs[3] as u32, words[0][3]);
        assert_eq!((longs[LANES] >> 32) as u32, words[3][0]);
        assert_ne!(split(seed, at), split(seed, at + 1));
    }
}
