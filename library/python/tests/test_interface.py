"""What the functions take and refuse, and what runs while they work."""

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


def test_whatever_has_a_buffer_is_data():
    with mmap.mmap(-1, len(RFC_1071)) as mapped:
        mapped[:] = RFC_1071
        words = array.array("H", RFC_1071)
        for data in (RFC_1071, bytearray(RFC_1071), memoryview(RFC_1071), mapped, words, memoryview(words)):
            assert carryline.checksum(data) == 0x220D
            assert carryline.Sum(data).checksum() == 0x220D


def test_parts_at_odd_places_are_data():
    data = bytearray(b"?" + RFC_1071 + b"?")
    assert carryline.checksum(memoryview(data)[1:-1]) == 0x220D


@pytest.mark.parametrize("data", [b"", bytearray(), memoryview(b""), array.array("I")])
def test_nothing_is_data_too(data):
    assert carryline.checksum(data) == 0xFFFF
    assert carryline.Sum(data) == carryline.Sum()


@pytest.mark.parametrize("data", ["text", 7, None, [1, 2], object()])
def test_what_has_no_buffer_is_a_type_error(data):
    with pytest.raises(TypeError):
        carryline.checksum(data)


def test_buffers_with_gaps_are_refused():
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
def test_what_is_read_only_is_not_written_to(call):
    data = bytes(8)
    with pytest.raises(BufferError, match="read-only"):
        call(data)
    assert data == bytes(8)


def test_lengths_that_differ_are_named():
    with pytest.raises(ValueError, match="dst has 3 bytes and src has 8"):
        carryline.copy(bytearray(3), RFC_1071)
    with pytest.raises(ValueError, match="old has 2 bytes and new has 1"):
        carryline.update(7, 0, b"ab", b"c")


def test_addresses_that_are_none_are_named():
    for wrong, error, words in [
        ("192.0.2", ValueError, "'192.0.2' is no IP address"),
        (b"abc", ValueError, "4 or 16 bytes, not 3"),
        (7, TypeError, "not <class 'int'>"),
        ("2001:db8::1", ValueError, "two versions"),
    ]:
        with pytest.raises(error, match=words):
            carryline.tcp("192.0.2.1", wrong, bytes(20))
    with pytest.raises(ValueError, match="addresses of IPv6"):
        carryline.icmpv6("192.0.2.1", "192.0.2.2", bytes(8))


def test_what_fits_into_no_packet_is_a_value_error():
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


def test_only_an_intact_datagram_is_true():
    verdicts = carryline.UdpVerdict
    assert [bool(verdict) for verdict in (verdicts.INTACT, verdicts.ABSENT, verdicts.DAMAGED)] == [True, False, False]


def test_a_sum_is_changed_in_place_and_copied():
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
    """Whether a thread that waits for the interpreter's lock gets it during the call, and not only after it."""
    wait, ran = threading.Lock(), False

    def other():
        nonlocal ran
        wait.acquire()
        ran = True

    wait.acquire()
    thread = threading.Thread(target=other)
    thread.start()
    # No thread is asked to give the lock up: it goes over only where a call releases it.
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
def test_the_lock_is_released_for_large_buffers_alone():
    large, small = bytearray(64 << 20), bytearray(60 << 10)
    calls = [
        lambda data: carryline.checksum(data),
        lambda data: carryline.checksum(bytes(data)),
        lambda data: carryline.Sum().add(data),
        lambda data: carryline.zero(data),
        lambda data: carryline.copy(data, memoryview(data)),
    ]
    for call in calls:
        # The other thread may be late, but not every time.
        assert any(other_thread_runs_during(lambda: call(large)) for _ in range(1000))
        assert not any(other_thread_runs_during(lambda: call(small)) for _ in range(20))


def test_sums_of_many_threads_lose_nothing():
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


def test_the_stub_describes_what_is_there():
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


def test_the_example_of_the_readme():
    readme = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text()
    exec(readme.split("```python\n")[1].split("```")[0], {})
