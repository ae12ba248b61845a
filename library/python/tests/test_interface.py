"""The arguments that functions accept and reject, and the release of the interpreter's lock."""

import array
import ast
import importlib.resources
import inspect
import mmap
import pathlib
import sys
import threading

import carryline
import pytest

RFC_1071 = bytes.fromhex("0001f203f4f5f6f7")


def test_any_buffer_is_data():
    with mmap.mmap(-1, len(RFC_1071)) as mapped:
        mapped[:] = RFC_1071
        words = array.array("H", RFC_1071)
        for data in (RFC_1071, bytearray(RFC_1071), memoryview(RFC_1071), mapped, words, memoryview(words)):
            assert carryline.checksum(data) == 0x220D
            assert carryline.Sum(data).checksum() == 0x220D


def test_slices_at_odd_offsets_are_data():
    data = bytearray(b"?" + RFC_1071 + b"?")
    assert carryline.checksum(memoryview(data)[1:-1]) == 0x220D


@pytest.mark.parametrize("data", [b"", bytearray(), memoryview(b""), array.array("I")])
def test_empty_buffers_are_data(data):
    assert carryline.checksum(data) == 0xFFFF
    assert carryline.Sum(data) == carryline.Sum()


@pytest.mark.parametrize("data", ["text", 7, None, [1, 2], object()])
def test_objects_without_a_buffer_are_type_errors(data):
    with pytest.raises(TypeError):
        carryline.checksum(data)


def test_non_contiguous_buffers_are_rejected():
    with pytest.raises(BufferError, match="contiguous"):
        carryline.checksum(memoryview(RFC_1071)[::2])


def test_writable_buffers():
    buffer = bytearray(b"\xff" * 100)
    carryline.zero(memoryview(buffer)[10:20])
    assert buffer == b"\xff" * 10 + bytes(10) + b"\xff" * 80
    carryline.copy(memoryview(buffer)[:8], RFC_1071)
    assert buffer[:8] == RFC_1071
    # Within one buffer, forwards and backwards.
    numbers = bytearray(range(100))
    carryline.copy(memoryview(numbers)[3:], memoryview(numbers)[:-3])
    assert numbers == bytes([0, 1, 2]) + bytes(range(97))
    carryline.copy(memoryview(numbers)[:-3], memoryview(numbers)[3:])
    assert numbers[:97] == bytes(range(97))
    with pytest.raises(ValueError, match="overlap"):
        carryline.copy_and_sum(memoryview(numbers)[3:], memoryview(numbers)[:-3])


@pytest.mark.parametrize("call", [carryline.zero, lambda to: carryline.copy(to, RFC_1071)])
def test_read_only_buffers_are_rejected(call):
    data = bytes(8)
    with pytest.raises(BufferError, match="read-only"):
        call(data)
    assert data == bytes(8)


def test_different_lengths_are_rejected():
    with pytest.raises(ValueError, match="dst has 3 bytes and src has 8"):
        carryline.copy(bytearray(3), RFC_1071)
    with pytest.raises(ValueError, match="old has 2 bytes and new has 1"):
        carryline.update(7, 0, b"ab", b"c")


def test_invalid_addresses_are_rejected():
    for wrong, error, words in [
        ("192.0.2", ValueError, "'192.0.2' is not an IP address"),
        (b"abc", ValueError, "4 or 16 bytes, not 3"),
        (7, TypeError, "not <class 'int'>"),
        ("2001:db8::1", ValueError, "different IP versions"),
    ]:
        with pytest.raises(error, match=words):
            carryline.tcp("192.0.2.1", wrong, bytes(20))
    with pytest.raises(ValueError, match="requires IPv6"):
        carryline.icmpv6("192.0.2.1", "192.0.2.2", bytes(8))


def test_values_that_fit_into_no_packet_are_rejected():
    for function in (carryline.tcp, carryline.udp):
        with pytest.raises(ValueError, match="65536 bytes"):
            function("192.0.2.1", "192.0.2.2", bytes(65536))
        assert 0 <= function("::1", "::2", bytes(65536)) <= 0xFFFF
    with pytest.raises(ValueError, match="at most 65535"):
        carryline.Sum.pseudo_header("192.0.2.1", "192.0.2.2", 6, 65536)
    for header in (b"", bytes(20), b"\x46" + bytes(20)):
        with pytest.raises(ValueError, match="header length"):
            carryline.ipv4(header)
        assert carryline.verify_ipv4(header) is False
    for number in (-1, 65536):
        with pytest.raises(OverflowError):
            carryline.update(number, 0, b"a", b"b")


def test_only_the_intact_verdict_is_true():
    verdicts = carryline.UdpVerdict
    assert [bool(verdict) for verdict in (verdicts.INTACT, verdicts.ABSENT, verdicts.DAMAGED)] == [True, False, False]


def test_sums_change_in_place_and_can_be_copied():
    total = carryline.Sum(b"odd")
    other = total.copy()
    assert total.add(b"more") is total
    assert other == carryline.Sum(b"odd") != total
    assert total == carryline.Sum(b"oddmore")
    assert total.add_zeros(3) == carryline.Sum(b"oddmore" + bytes(3))
    assert carryline.Sum(b"odd").combine(carryline.Sum(b"more")) == carryline.Sum(b"oddmore")
    doubled = carryline.Sum(b"odd")
    assert doubled.combine(doubled) == carryline.Sum(b"oddodd")


def other_thread_runs_during(call):
    """Whether a thread that waits for the interpreter's lock gets it during the call rather than after it."""
    wait, ran = threading.Lock(), False

    def other():
        nonlocal ran
        wait.acquire()
        ran = True

    wait.acquire()
    thread = threading.Thread(target=other)
    thread.start()
    # The interpreter never asks a thread to yield the lock: another thread gets it only if a call releases it.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    try:
        wait.release()
        call()
        return ran
    finally:
        sys.setswitchinterval(interval)
        thread.join()


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="there is no lock")
def test_the_lock_is_released_only_for_large_buffers():
    large, small = bytearray(64 << 20), bytearray(60 << 10)
    calls = [
        lambda data: carryline.checksum(data),
        lambda data: carryline.checksum(bytes(data)),
        lambda data: carryline.Sum().add(data),
        lambda data: carryline.zero(data),
        lambda data: carryline.copy(data, memoryview(data)),
    ]
    for call in calls:
        # The other thread may wake too late, but not every time.
        assert any(other_thread_runs_during(lambda: call(large)) for _ in range(1000))
        assert not any(other_thread_runs_during(lambda: call(small)) for _ in range(20))


def test_concurrent_additions_are_not_lost():
    total, data = carryline.Sum(), b"\x00\x01" * (64 << 10)
    threads = [threading.Thread(target=total.add, args=(data,)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == carryline.Sum(data * 16)


def stub():
    return ast.parse((importlib.resources.files("carryline") / "__init__.pyi").read_text())


def parameters(function):
    every = function.args
    names = [argument.arg for argument in every.posonlyargs + every.args + every.kwonlyargs]
    return [name for name in names if name not in ("self", "cls")]


def test_the_stub_matches_the_module():
    assert (importlib.resources.files("carryline") / "py.typed").is_file()
    described = {}
    for node in stub().body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            described[node.name] = node
    public = {name for name in dir(carryline) if not name.startswith("_")} - {"carryline"}
    assert set(described) == public
    for name, node in described.items():
        found = getattr(carryline, name)
        functions = [(found, node)]
        if isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            functions = [(getattr(found, item.name), item) for item in methods if not item.name.startswith("_")]
            assert {item.name for _, item in functions} <= set(dir(found))
            if name == "Sum":
                assert {item.name for _, item in functions} == {n for n in dir(found) if not n.startswith("_")}
        for function, described_by in functions:
            real = [p for p in inspect.signature(function).parameters if p != "self"]
            assert real == parameters(described_by), described_by.name
            assert inspect.getdoc(function).splitlines()[0] == ast.get_docstring(described_by).splitlines()[0]


def test_the_readme_example_runs():
    readme = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text()
    exec(readme.split("```python\n")[1].split("```")[0], {})
