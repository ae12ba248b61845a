//! The number of bytes that a captured packet's transport checksum covers.

use carryline_packets::{Bytes, Skip, ip, ip::Transport, link};

/// The length of the transport header and data of a captured packet.
///
/// `original_bytes` is the length before truncation to the snap length; if more bytes were captured, their
/// number counts.
pub(super) fn checksummed_bytes(link: u32, captured: &[u8], original_bytes: u64) -> Result<u64, Skip> {
    let (version, packet) = link::ip_of_record(link, Bytes::new(captured, original_bytes))?;
    let payload = ip::packet(version, packet)?.payload.map_err(|opaque| opaque.why)?;
    let (transport, bytes) = payload.transport()?;
    // RFC 768: a checksum of 0 means that the sender computed none.
    if transport == Transport::Udp && bytes.header(8)?[6..8] == [0, 0] {
        return Err(Skip::NoChecksum);
    }
    Ok(bytes.original_bytes())
}
