"""scapy's checksum as an adapter: pip install scapy."""
import sys

import scapy
from scapy.utils import checksum

for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello":
        print("scapy", scapy.__version__, flush=True)
    elif verb == "sum":
        print(f"{checksum(bytes.fromhex(words[0].strip('-'))):04x}", flush=True)
    else:
        print("unsupported", flush=True)
