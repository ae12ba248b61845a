"""Nanoseconds per checksum, compared with scapy and dpkt if they are installed.

    pip install carryline-*.whl scapy dpkt
    python measure.py [--json]

Every round times each function once, in random order; the result is the median of the rounds. Their results must agree.
"""

import json
import random
import statistics
import sys
import time

SIZES = (40, 1500, 65536)
ROUNDS = 31
# The duration of one function in one round.
SECONDS = 0.005


def functions():
    import carryline

    found = {"carryline": carryline.checksum}
    try:
        from scapy.utils import checksum
    except ImportError:
        pass
    else:
        found["scapy"] = checksum
    try:
        from dpkt import in_cksum
    except ImportError:
        pass
    else:
        found["dpkt"] = in_cksum
    return found


def seconds(function, data, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        function(data)
    return time.perf_counter() - begin


def measure(size):
    data, known = random.Random(size).randbytes(size), functions()
    results = {name: function(data) for name, function in known.items()}
    if len(set(results.values())) != 1:
        sys.exit(f"error: {size} bytes: the functions disagree: {results}")
    calls = {}
    for name, function in known.items():
        calls[name] = 1
        while seconds(function, data, calls[name]) < SECONDS:
            calls[name] *= 2
    samples = {name: [] for name in known}
    names = list(known)
    for _ in range(ROUNDS):
        random.shuffle(names)
        for name in names:
            samples[name].append(seconds(known[name], data, calls[name]) / calls[name] * 1e9)
    return {name: statistics.median(values) for name, values in samples.items()}


def main():
    rows = {size: measure(size) for size in SIZES}
    if sys.argv[1:] == ["--json"]:
        print(json.dumps({"unit": "ns per call", "median_of_rounds": ROUNDS, "sizes": rows}))
        return
    names = list(rows[SIZES[0]])
    print("bytes".rjust(7), *(name.rjust(12) for name in names), " ns per call")
    for size, row in rows.items():
        print(str(size).rjust(7), *(f"{row[name]:12,.0f}" for name in names))


if __name__ == "__main__":
    main()
