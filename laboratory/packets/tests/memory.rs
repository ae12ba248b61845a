//! Memory is bounded whatever a file holds: an allocator that counts watches the worst that is known.

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

// SAFETY: hands everything to the system's allocator unchanged; counting touches two integers alone.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST_HELD.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`, which is also the system's allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller gives a pointer from `alloc`, so from the system's allocator, with its layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A file that is made while it is read: every link type there is, as many interfaces as are allowed, twice as many senders of wrong
/// checksums as are remembered, and the largest record.
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

    /// The block after `number` others; none after the last.
    fn block(&mut self, number: usize) -> Option<Vec<u8>> {
        const PACKETS: usize = MOST_INTERFACES + 1;
        let order = Order::Little;
        Some(match number {
            0 => section(order),
            1..PACKETS => interface(order, number as u32 + link::RAW - 1, 0, &[]),
            // A packet of every link type, most of them unknown.
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
fn the_worst_file_takes_no_more_memory_than_is_said() {
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
    assert!(held > MOST_BYTES / 4, "{held} bytes: the bound says nothing");
}
