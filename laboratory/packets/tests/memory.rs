//! Memory is bounded for every file; a counting allocator measures the worst known case.

use carryline_packets::audit::{Audit, MOST_BYTES};
use carryline_packets::file::{self, MOST_INTERFACES, MOST_RECORD_BYTES};
use carryline_packets::handmade::{Order, enhanced_packet, interface, section};
use carryline_packets::link::types as link;
use carryline_packets::planted::{ip4, segment};
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST_HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: forwards every call to the system's allocator unchanged; counting only updates two integers.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST_HELD.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`, which is that of the system's
        // allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer comes from `alloc`, and so from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A file generated while it is read: all link types, the maximum number of interfaces, twice as many senders
/// of wrong checksums as are tracked, and the largest record.
struct Worst {
    next: usize,
    ready: VecDeque<u8>,
    largest: Vec<u8>,
}

impl Worst {
    const SENDERS: usize = 1 << 17;

    fn new() -> Worst {
        let bytes = MOST_RECORD_BYTES as usize - 64;
        let largest = enhanced_packet(Order::Little, 0, &(vec![0; bytes], bytes as u32), &[]);
        Worst { next: 0, ready: VecDeque::with_capacity(2 * largest.len()), largest }
    }

    /// Block `number` of the file; `None` after the last.
    fn block(&mut self, number: usize) -> Option<Vec<u8>> {
        const PACKETS: usize = MOST_INTERFACES + 1;
        let order = Order::Little;
        Some(match number {
            0 => section(order),
            1..PACKETS => interface(order, number as u32 + link::RAW - 1, 0, &[]),
            // A packet of every link type, most of which are unknown.
            _ if number < PACKETS + 0x1_0000 => {
                enhanced_packet(order, (number - PACKETS) as u32, &(vec![0; 8], 8), &[])
            }
            _ if number < PACKETS + 0x1_0000 + Worst::SENDERS => {
                let sender = (number as u32).to_be_bytes();
                let packet = ip4([sender, [10, 0, 0, 1]], 6, &[], &segment(6, 20));
                enhanced_packet(order, 0, &(packet, 40), &[])
            }
            _ if number == PACKETS + 0x1_0000 + Worst::SENDERS => std::mem::take(&mut self.largest),
            _ => return None,
        })
    }
}

impl Read for Worst {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.ready.is_empty() {
            let block = self.block(self.next).unwrap_or_default();
            self.ready.extend(block);
            self.next += 1;
        }
        self.ready.read(buffer)
    }
}

#[test]
fn the_worst_file_stays_within_the_memory_bound() {
    let worst = Worst::new();
    let before = HELD.load(Ordering::Relaxed);
    MOST_HELD.store(before, Ordering::Relaxed);
    let mut audit = Audit::new();
    file::read(worst, &mut audit).expect("a capture");
    let report = audit.finish();
    assert_eq!(report.packets, 0x1_0000 + Worst::SENDERS as u64 + 1);
    assert!(report.wrong() > 100_000);
    let held = MOST_HELD.load(Ordering::Relaxed).saturating_sub(before);
    println!("{held} bytes");
    assert!(held <= MOST_BYTES, "{held} bytes");
    assert!(held > MOST_BYTES / 4, "{held} bytes: the bound is too loose");
}
