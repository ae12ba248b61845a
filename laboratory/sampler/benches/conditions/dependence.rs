//! Calls that wait for each other, or whose result is read.

use crate::harness::{Call, HOT_CALLS, Kernel, Region, World};
use carryline_machine::clock;
use std::hint::black_box;

/// What separates a call from the next.
#[derive(Clone, Copy)]
pub enum Between {
    /// The next call needs its sum, or an address that depends on a load of the last byte written.
    Result,
    /// A fence on both sides.
    Fence,
    /// The lines of its destination are read.
    Reading,
}

#[inline(never)]
fn time_apart(kernel: Kernel, calls: &[Call], between: Between) -> f64 {
    // Zero, but unknown to the compiler.
    let (mut sum, mut distance, no_bits) = (1, 0, black_box(0_usize));
    let begin = clock::start();
    for call in calls {
        let call = Call { dst: call.dst + distance, src: call.src + distance, ..*call };
        match between {
            Between::Result => match kernel {
                Kernel::Sum(_) => sum = kernel.call(call, sum),
                _ => {
                    kernel.call(call, 1);
                    // SAFETY: the last byte of a buffer of at least one byte.
                    let last = unsafe { ((call.dst + call.len - 1) as *const u8).read_volatile() };
                    distance = usize::from(last) & no_bits;
                }
            },
            Between::Fence => {
                clock::fence();
                sum ^= kernel.call(call, 1);
                clock::fence();
            }
            Between::Reading => {
                sum ^= kernel.call(call, 1);
                Region { start: call.dst, len: call.len }.read();
            }
        }
    }
    let ticks = clock::stop().wrapping_sub(begin);
    black_box(sum);
    ticks as f64
}

impl World {
    /// Calls of one size at aligned hot buffers.
    pub fn apart_by(&mut self, len: usize, between: Between) -> f64 {
        let call = Call { dst: self.near[0].start, src: self.near[1].start, len };
        let calls = [call; HOT_CALLS];
        self.median(|world| {
            time_apart(world.kernel, &calls, between);
            (time_apart(world.kernel, &calls, between), calls.len())
        })
    }
}
