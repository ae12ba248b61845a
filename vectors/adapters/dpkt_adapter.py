"""dpkt's checksum as an adapter: pip install dpkt."""
import sys

import dpkt

for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello":
        print("dpkt", dpkt.__version__, flush=True)
    elif verb == "sum":
        print(f"{dpkt.in_cksum(bytes.fromhex(words[0].strip('-'))):04x}", flush=True)
    else:
        print("unsupported", flush=True)
