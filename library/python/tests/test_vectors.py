"""The conformance vectors of the repository's folder vectors/."""

import ipaddress
import json
import pathlib

import carryline
import pytest

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "vectors"
# Longer data is passed in repeated buffers of about this length.
LONGEST = 64 << 20


def cases(kind):
    file = json.loads((VECTORS / f"{kind}.json").read_text())
    assert (file["format"], file["version"], file["kind"]) == ("internet checksum vectors", 1, kind)
    assert len(file["cases"]) >= 10
    return [pytest.param(case, id=case["name"]) for case in file["cases"]]


def pieces(parts):
    for part in parts:
        if "hex" in part:
            yield bytes.fromhex(part["hex"])
            continue
        pattern = bytes.fromhex(part["repeat"])
        left = part["bytes"]
        longest = LONGEST // len(pattern)
        buffer = pattern * min(longest, left // len(pattern) + 1)
        while left:
            yield memoryview(buffer)[: min(left, longest * len(pattern))]
            left -= min(left, longest * len(pattern))


def number(digits):
    return int(digits, 16)


@pytest.mark.parametrize("case", cases("sums"))
def test_sums(case):
    parts = list(pieces(case["data"]))
    total = carryline.Sum()
    for piece in parts:
        total.add(piece)
    assert total.folded() == number(case["sum"])
    assert total.checksum() == number(case["checksum"])
    assert total.udp_checksum() == number(case["udp_checksum"])
    if sum(map(len, parts)) <= LONGEST:
        data = b"".join(parts)
        for kind in (bytes, bytearray, memoryview):
            assert carryline.checksum(kind(data)) == number(case["checksum"])
        copied = bytearray(len(data))
        assert carryline.copy_and_sum(copied, data) == total
        assert copied == data


@pytest.mark.parametrize("case", cases("segments"))
def test_segments(case):
    total, combined = carryline.Sum(), carryline.Sum()
    for segment in case["segments"]:
        alone = carryline.Sum()
        for piece in pieces(segment):
            total.add(piece)
            alone.add(piece)
        combined.combine(alone)
    assert total == combined
    assert total.folded() == number(case["sum"])
    assert total.checksum() == number(case["checksum"])
    assert total.udp_checksum() == number(case["udp_checksum"])


@pytest.mark.parametrize("case", cases("updates"))
def test_updates(case):
    old, new = bytes.fromhex(case["old"]), bytes.fromhex(case["new"])
    before, after = number(case["checksum"]), number(case["updated"])
    assert carryline.update(before, case["offset"], old, new, udp=case["rule"] == "udp") == after


@pytest.mark.parametrize("case", cases("pseudo_headers"))
def test_pseudo_headers(case):
    addresses = case["source"], case["destination"]
    rest = case["protocol"], case["length"]
    objects = [ipaddress.ip_address(address) for address in addresses]
    for src, dst in (addresses, objects, [address.packed for address in objects]):
        assert carryline.Sum.pseudo_header(src, dst, *rest).folded() == number(case["sum"])


@pytest.mark.parametrize("case", cases("packets"))
def test_packets(case):
    name = {"ipv4_header": "ipv4"}.get(case["protocol"], case["protocol"])
    arguments = [case[key] for key in ("source", "destination") if name in ("tcp", "udp", "icmpv6")]
    packet = bytes.fromhex(case["bytes"])
    if case["checksum"] is None:
        with pytest.raises(ValueError):
            getattr(carryline, name)(*arguments, packet)
    else:
        assert getattr(carryline, name)(*arguments, packet) == number(case["checksum"])
    verdict = getattr(carryline, f"verify_{name}")(*arguments, packet)
    if name == "udp":
        assert verdict is getattr(carryline.UdpVerdict, case["verdict"].upper())
    else:
        assert verdict is (case["verdict"] == "intact")
