//! Reads the packets of capture files, finds their checksums, and verifies these.
//!
//! | job | module |
//! | --- | --- |
//! | pcap and pcapng files, or pipes, to records | [`mod@file`] |
//! | a frame of any link type to its IP packet | [`link`] |
//! | an IP header with its extensions to the transport | [`ip`] |
//! | a transport to the IP packet tunnelled in it | [`tunnel`] |
//! | the verdict on one checksum | [`judge`] |
//! | the checksums of a whole capture | [`audit`] |
//!
//! Captures are untrusted input. No input causes a panic or an endless loop, nothing is recursive, and memory
//! is bounded by [`audit::MOST_BYTES`].

pub mod audit;
mod bytes;
pub mod file;
#[cfg(any(test, feature = "handmade"))]
pub mod handmade;
pub mod ip;
pub mod judge;
pub mod link;
mod pcap;
mod pcapng;
#[cfg(any(test, feature = "handmade"))]
pub mod planted;
mod senders;
mod skip;
mod stream;
pub mod tunnel;

pub use bytes::Bytes;
pub use skip::Skip;
