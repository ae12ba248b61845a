"""Internet checksums (RFC 1071), zeroing and copying of anything that has a buffer.

Checksums are numbers as shown in packet dumps: struct.pack("!H", checksum) is the field. Data is any object with a
contiguous buffer: bytes, bytearray, memoryview, array.array, mmap.mmap, ctypes' arrays and structures, NumPy's arrays. From 64
KiB on, other threads can run; bytes that they write to a buffer meanwhile may or may not be included in its sum.
"""

from typing import Protocol, Self, final

from typing_extensions import Buffer

class _HasPacked(Protocol):
    @property
    def packed(self) -> bytes: ...

_Address = str | bytes | _HasPacked

__version__: str
__all__ = [
    "__version__",
    "Sum",
    "UdpVerdict",
    "checksum",
    "copy",
    "copy_and_sum",
    "icmp",
    "icmpv6",
    "ipv4",
    "tcp",
    "udp",
    "update",
    "verify",
    "verify_icmp",
    "verify_icmpv6",
    "verify_ipv4",
    "verify_tcp",
    "verify_udp",
    "zero",
]

def checksum(data: Buffer, /) -> int:
    """The Internet checksum of the data (RFC 1071)."""

def verify(data: Buffer, /) -> bool:
    """Whether the data, including its checksum field, is intact."""

def update(checksum: int, offset: int, old: Buffer, new: Buffer, *, udp: bool = False) -> int:
    """The checksum after `old` at `offset` of the data was replaced by `new` (RFC 1624).

    The offset is counted from the start of the data that the checksum covers. With `udp`, a checksum of 0, which means that
    there is none, is unchanged, and a computed 0 becomes 0xffff. ValueError if `old` and `new` have different lengths.
    """

def zero(buffer: Buffer, /) -> None:
    """Zeroes a writable buffer."""

def copy(dst: Buffer, src: Buffer, /) -> None:
    """Copies the data to a writable buffer of the same length. They may overlap."""

def copy_and_sum(dst: Buffer, src: Buffer, /) -> Sum:
    """Copies the data to a writable buffer of the same length, which must not overlap, and returns its sum."""

@final
class Sum:
    """A sum of data in pieces of any length.

    >>> Sum(b"\\x00\\x01\\xf2").add(b"\\x03\\xf4\\xf5\\xf6\\xf7").checksum() == 0x220d
    True
    """

    def __new__(cls, data: Buffer | None = None, /) -> Self: ...
    @staticmethod
    def pseudo_header(src: _Address, dst: _Address, protocol: int, length: int) -> Sum:
        """The sum of the pseudo-header for a TCP segment, UDP datagram or ICMPv6 message of `length` bytes."""

    def add(self, data: Buffer, /) -> Self:
        """Adds the data after the data added so far, and returns this sum."""

    def add_zeros(self, length: int, /) -> Self:
        """Adds `length` zero bytes, and returns this sum."""

    def combine(self, next: Sum, /) -> Self:
        """Adds the data of another sum after the data added so far, and returns this sum."""

    def copy(self) -> Sum:
        """A copy of the sum."""

    def checksum(self) -> int:
        """The finished checksum."""

    def udp_checksum(self) -> int:
        """The finished checksum as UDP sends it."""

    def verify(self) -> bool:
        """Whether the data, including checksum field and pseudo-header, is intact."""

    def folded(self) -> int:
        """The folded sum, not complemented: the field value for checksum offload to a network card."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class UdpVerdict:
    """The result of verifying a received UDP datagram. Only `INTACT` is true."""

    INTACT: UdpVerdict
    ABSENT: UdpVerdict
    DAMAGED: UdpVerdict
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def ipv4(header: Buffer, /) -> int:
    """The checksum of an IPv4 header, over the number of bytes in its length field.

    The checksum field counts as zero. ValueError if the header is shorter.
    """

def verify_ipv4(header: Buffer, /) -> bool:
    """Whether a received IPv4 header is intact."""

def tcp(src: _Address, dst: _Address, segment: Buffer) -> int:
    """The checksum of a TCP segment, header and data.

    The checksum field counts as zero. ValueError if the segment is longer than a pseudo-header can express.
    """

def verify_tcp(src: _Address, dst: _Address, segment: Buffer) -> bool:
    """Whether a received TCP segment is intact."""

def udp(src: _Address, dst: _Address, datagram: Buffer) -> int:
    """The checksum of a UDP datagram, header and data; never 0.

    The checksum field counts as zero. ValueError as for TCP.
    """

def verify_udp(src: _Address, dst: _Address, datagram: Buffer) -> UdpVerdict:
    """Whether a received UDP datagram is intact, damaged, or was sent without a checksum."""

def icmp(message: Buffer, /) -> int:
    """The checksum of an ICMP message.

    The checksum field counts as zero.
    """

def verify_icmp(message: Buffer, /) -> bool:
    """Whether a received ICMP message is intact."""

def icmpv6(src: _Address, dst: _Address, message: Buffer) -> int:
    """The checksum of an ICMPv6 message.

    The checksum field counts as zero.
    """

def verify_icmpv6(src: _Address, dst: _Address, message: Buffer) -> bool:
    """Whether a received ICMPv6 message is intact."""
