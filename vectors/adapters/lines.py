"""The line protocol of ../README.md, for adapters in Python."""
import sys


def data(word):
    """The bytes that a word means: parts joined by +, each some digits, or a pattern * a length."""
    parts = []
    for part in word.strip("-").split("+"):
        digits, _, length = part.partition("*")
        pattern = bytes.fromhex(digits)
        length = int(length or len(pattern))
        parts.append((pattern * (length // (len(pattern) or 1) + 1))[:length])
    return b"".join(parts)


def serve(name, version, answers):
    """Answers by these functions: a number is a field; they get the words of the request."""
    for line in sys.stdin:
        verb, *words = line.split()
        answer = "unsupported"
        if verb == "hello":
            answer = f"{name} {version} repeat"
        elif verb in answers:
            answer = answers[verb](*words)
        print(f"{answer:04x}" if isinstance(answer, int) else answer, flush=True)
