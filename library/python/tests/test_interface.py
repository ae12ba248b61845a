"""The arguments that functions accept and reject, and the release of the interpreter's lock."""

import array
import ast
import ctypes
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


class Message(ctypes.Structure):
    _fields_ = [("head", ctypes.c_uint8 * 3), ("tail", ctypes.c_uint8 * 5)]


CTYPES = [ctypes.c_uint8 * 8, ctypes.c_uint16 * 4, (ctypes.c_uint8 * 4) * 2, ctypes.c_uint64, Message, Message * 1]


@pytest.mark.parametrize("kind", CTYPES)
def test_objects_of_ctypes_are_data(kind):
    message = kind.from_buffer_copy(RFC_1071)
    for data in (message, memoryview(message), memoryview(message).toreadonly()):
        assert carryline.checksum(data) == 0x220D
        assert carryline.Sum(data).checksum() == 0x220D
        assert carryline.icmp(data) == carryline.icmp(RFC_1071)


@pytest.mark.parametrize("kind", CTYPES)
def test_objects_of_ctypes_are_writable_unless_a_view_is_read_only(kind):
    message = kind.from_buffer_copy(RFC_1071)
    backwards = RFC_1071[::-1]
    carryline.copy(message, backwards)
    assert bytes(message) == backwards
    assert carryline.copy_and_sum(message, RFC_1071).checksum() == 0x220D
    assert bytes(message) == RFC_1071
    copied = bytearray(8)
    assert carryline.copy_and_sum(copied, message).checksum() == 0x220D
    assert copied == RFC_1071
    read_only = memoryview(message).toreadonly()
    for call in (carryline.zero, lambda to: carryline.copy(to, backwards), lambda to: carryline.copy_and_sum(to, backwards)):
        with pytest.raises(BufferError, match="read-only"):
            call(read_only)
    assert bytes(message) == RFC_1071
    carryline.zero(message)
    assert bytes(message) == bytes(8)


def test_large_objects_of_ctypes_are_data():
    content = bytes(range(251)) * 800
    array_of = ctypes.c_uint8 * len(content)
    message, copied = array_of.from_buffer_copy(content), array_of()
    assert carryline.checksum(message) == carryline.checksum(content)
    assert carryline.copy_and_sum(copied, message) == carryline.Sum(content)
    assert bytes(copied) == content


def test_slices_at_odd_offsets_are_data():
    data = bytearray(b"?" + RFC_1071 + b"?")
    assert carryline.checksum(memoryview(data)[1:-1]) == 0x220D


def view_of_null():
    """A writable buffer without bytes, whose address is null."""
    view = ctypes.pythonapi.PyMemoryView_FromMemory
    view.restype, view.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int]
    return view(None, 0, 0x200)


@pytest.mark.parametrize("data", [b"", bytearray(), memoryview(b""), array.array("I"), (ctypes.c_int * 0)(), view_of_null()])
def test_empty_buffers_are_data(data):
    assert carryline.checksum(data) == 0xFFFF
    assert carryline.Sum(data) == carryline.Sum()
    assert carryline.icmp(data) == 0xFFFF
    assert carryline.verify_icmp(data) is carryline.verify_ipv4(data) is False
    with pytest.raises(ValueError, match="0 bytes with a header length of 0"):
        carryline.ipv4(data)
    assert carryline.update(7, 0, data, data) == 7


@pytest.mark.parametrize("buffer", [bytearray(), (ctypes.c_int * 0)(), view_of_null()])
def test_empty_buffers_are_writable(buffer):
    carryline.zero(buffer)
    for source in (b"", buffer, view_of_null()):
        carryline.copy(buffer, source)
        assert carryline.copy_and_sum(buffer, source) == carryline.Sum()


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


def test_buffers_are_released():
    """A bytearray cannot be resized while a buffer of it is held, nor can such a view be released."""
    for length in (8, 100_000):
        data, other = bytearray(length), bytearray(length)
        carryline.checksum(data)
        carryline.ipv4(bytearray(b"\x45" + bytes(length + 20)))
        carryline.zero(data)
        carryline.copy(data, other)
        carryline.copy_and_sum(data, other)
        for wrong, error in [
            (lambda: carryline.copy(data, bytes(length + 1)), ValueError),
            (lambda: carryline.copy_and_sum(data, data), ValueError),
            (lambda: carryline.copy(data, 7), TypeError),
        ]:
            with pytest.raises(error):
                wrong()
        data.append(1)
        other.append(1)
        view = memoryview(data)
        for job in (lambda: carryline.checksum(view[::2]), lambda: carryline.zero(view[::2])):
            with pytest.raises(BufferError, match="contiguous"):
                job()
        with pytest.raises(BufferError, match="read-only"):
            carryline.zero(view.toreadonly())
        view.release()
        data.append(1)


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
    # Sent without a checksum, but longer than any datagram over IPv4.
    assert carryline.verify_udp("192.0.2.1", "192.0.2.2", bytes(65535)) is carryline.UdpVerdict.ABSENT
    assert carryline.verify_udp("192.0.2.1", "192.0.2.2", bytes(70000)) is carryline.UdpVerdict.DAMAGED
    for number in (-1, 65536):
        with pytest.raises(OverflowError):
            carryline.update(number, 0, b"a", b"b")


def test_headers_of_ipv4_end_where_they_say():
    for words in range(5, 16):
        header = bytes([0x40 | words]) + bytes(range(1, 4 * words))
        field = carryline.ipv4(header)
        assert field == carryline.ipv4(bytearray(header + b"payload")) == carryline.ipv4(header + bytes(100_000))
        intact = header[:10] + field.to_bytes(2, "big") + header[12:]
        assert carryline.verify_ipv4(intact) and carryline.verify_ipv4(memoryview(intact + b"payload"))
        for shorter in (intact[:-1], bytearray(intact[:19])):
            assert carryline.verify_ipv4(shorter) is False
            with pytest.raises(ValueError, match=f"{len(shorter)} bytes with a header length of {4 * words}"):
                carryline.ipv4(shorter)


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
