//! The greatest or least element so far along a line, and its place.

use pulp::Arch;

use super::key::{Key, Word};
use super::{Line, Order};
use crate::block::Buffer;

/// Writes for each element of a line the greatest (least where `descending` is false) so far and the
/// place of the last that equals it; once there is a NaN it stays.
///
/// # Safety
/// The lines lie in memory that stays alive and have one length; nobody else touches the written ones.
pub unsafe fn running<T: Key>(
    arch: Arch,
    line: &Line,
    descending: bool,
    values: &Line,
    indices: &Line,
) {
    // A NaN wins both ways.
    let flip = T::Bits::narrow(Order::full::<T>(descending).flip);
    let rank = |v: T| {
        let key = v.key();
        if T::FLOAT && key == T::Bits::ONES { T::Bits::ZERO } else { key.xor(flip) }
    };
    let (mut best, mut least, mut place) = (T::ZERO, T::Bits::ONES, 0i64);
    let (mut block, mut places) = (Buffer::<T>::uninit(), Buffer::<i64>::uninit());
    // SAFETY: the caller's promise; buffers are written before they are read.
    unsafe {
        line.for_blocks::<T>(arch, |at, from| {
            let (block, places) = (block.slice(from.len()), places.slice(from.len()));
            for (i, v) in from.iter().enumerate() {
                let key = rank(*v);
                if key <= least {
                    (best, least, place) = (*v, key, at + i as i64);
                }
                block[i] = best;
                places[i] = place;
            }
            values.write(arch, at, block);
            indices.write(arch, at, places);
        });
    }
}
