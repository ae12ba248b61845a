//! Packets of capture files: read, taken apart down to their checksums, and judged.
//!
//! | job | module |
//! | --- | --- |
//! | pcap and pcapng files, or pipes, to records | [`mod@file`] |
//! | a frame of any link type to its IP packet | [`link`] |
//! | an IP header with its extensions to the transport | [`ip`] |
//! | a transport to the IP packet that is tunnelled in it | [`tunnel`] |
//! | one checksum: right, wrong, or not to be told | [`judge`] |
//! | a whole capture's checksums | [`audit`] |
//!
//! A capture is a stranger's file. No input makes any of this panic or loop, recursion is nowhere, and memory is bounded
//! by [`audit::MOST_BYTES`].

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
