//! Terms for what is compared and how, and for checksums.

use super::{Word, word};

pub(super) const WORDS: &[Word] = &[
    word(
        "variant",
        &[],
        "One way to do a family's job: a kernel, a library's function, a string instruction. Every \
         variant of a family has the same contract and is verified against the same reference before it \
         is timed. 'carryline list' shows all of them, with the CPU features they need and their origin.",
    ),
    word(
        "kernel",
        &["kernels"],
        "A routine of the library for one set of CPU features, such as avx2 or avx512. The library chooses one when it is \
         first called (see dispatch); 'carryline machine' names the kernels in use. Each is also a \
         variant, so it is verified and measured on its own. The kernel of the operating system is meant only where \
         a sentence is about pages, faults or system calls.",
    ),
    word(
        "unsupported",
        &["unsupported here", "lacking"],
        "A variant that this machine cannot run: its CPU lacks a feature, the feature is hidden by CARRYLINE_MASK, or the C \
         library lacks the function. It is neither verified nor timed, and its row states the reason. 'carryline list' \
         shows what each variant needs.",
    ),
    word(
        "family",
        &["families"],
        "The job that variants compete in: zero, copy, checksum or copy_checksum. Variants are only ever ranked \
         within their family, because only there do they compute the same thing.",
    ),
    word(
        "zero",
        &["zeroing"],
        "The family of routines that set a range of bytes to zero. The cost depends on where the lines are: \
         a store to a line in the nearest cache is cheap, one to a line in memory first fetches the line, unless \
         the store is non-temporal or the CPU sees that the whole line is overwritten.",
    ),
    word(
        "copy",
        &["copying"],
        "The family of routines that copy bytes between two ranges that do not overlap. A copy of n bytes reads n \
         and writes n; an ordinary store to a line that is not cached also reads that line, so memory may move 3n. \
         Rates count the n bytes of the call and nothing else.",
    ),
    word(
        "checksum",
        &["Internet checksum", "RFC 1071"],
        "The family of routines that compute the Internet checksum of RFC 1071: the one's-complement sum of the \
         data taken as 16-bit words. The sum may be taken in any byte order, in wide words and in any sequence, \
         and is folded to 16 bits at the end, which is why so many different kernels are correct.",
    ),
    word(
        "copy_checksum",
        &["copy and checksum"],
        "The family of routines that copy and compute the Internet checksum of the same bytes, as a network stack \
         does between user and kernel. One pass over the data (fused) reads each byte once; two passes read it \
         twice, the second time from a near cache.",
    ),
    word(
        "condition",
        &["conditions"],
        "Everything that a measurement holds fixed besides the variant: sizes, offsets, cache state and its \
         method, dependence between calls, page size, segments, and what follows each call. A figure \
         without its condition is meaningless.",
    ),
    word(
        "cell",
        &["cells"],
        "One verified variant under one condition: the unit that is timed and stored, a row of a table. Cells \
         of one situation are compared with each other, round by round.",
    ),
    word(
        "situation",
        &["situations"],
        "A named condition of practical interest, such as packets at random offsets or a buffer too large to \
         cache. Each has one ranking. Its sizes depend on the machine's caches and memory, and the label \
         states which.",
    ),
    word(
        "round",
        &["rounds"],
        "One measurement of every cell of a comparison, in a random order that changes from round to \
         round. A disturbance or a drift of the clock then affects all cells alike, and cancels out of \
         ratios formed within a round.",
    ),
    word(
        "replicate",
        &["replicates"],
        "One worker process with its own layout of stack, heap and buffers. Two processes place the same \
         code and data differently, and a few percent of speed may depend on that alone; several \
         replicates show how much. \
         Intervals are computed over replicates, not over samples of one process, which are not independent.",
    ),
    word(
        "worker",
        &["workers", "worker process"],
        "The process that verifies and times; the command starts itself again for it. A variant that \
         crashes, hangs or overwrites memory affects only its worker; the command reads the arguments of \
         the call from shared memory, records them in its row, and continues with the rest.",
    ),
    word(
        "batch",
        &["batches"],
        "A number of calls timed together, enough to take at least a microsecond. Reading the counter \
         costs tens of ticks and is uncertain by its step; over a batch that becomes negligible. Each cell is timed with N and with \
         2N calls, and the two must agree.",
    ),
    word(
        "verification",
        &["verify", "verified", "proof", "prove"],
        "The test that a variant must pass in the same process before it is timed: all short lengths and those around powers \
         of two and overflow bounds, all offsets in a line, data that provokes carries, seeds, protected pages on \
         both sides, and registers unchanged after the call. It is a thorough test, not a mathematical \
         proof. A variant that fails is reported with the smallest failing input found, and never \
         ranked.",
    ),
    word(
        "known-bad",
        &[],
        "A variant kept although it is wrong, with the reason: a published listing that loses a carry, a library \
         with a bug. 'carryline verify' must catch it, which shows that verification detects such \
         faults. It is never ranked.",
    ),
    word(
        "estimate",
        &["estimates", "median"],
        "A figure with its uncertainty: the median of the replicates' medians, its 95 % interval, and \
         the smallest sample. The median is the usual cost of a call. The minimum is its cost if \
         nothing interferes, which is rare in real programs.",
    ),
    word(
        "interval",
        &["95 % interval", "confidence interval", "bootstrap"],
        "The range that would hold the median in 95 of 100 repetitions of the whole run. It is the wider \
         of two: a bootstrap, in which replicates and their rounds are resampled a thousand times, and \
         Student's t over the replicates, because a bootstrap over few of them is too narrow. It covers \
         chance, but not what all replicates have in common, such as other load on the host.",
    ),
    word(
        "A/A",
        &["AA", "A/A pair", "A/A test", "twin", "twins"],
        "One variant measured under two names, as if it were two. Any difference between the two is \
         noise. Each situation has such a pair, its baseline with itself, which gives the noise floor.",
    ),
    word(
        "noise floor",
        &["A/A floor", "floor"],
        "The relative difference up to which cells of a situation tie, measured by timing its baseline \
         under two names; at least half a percent. It depends on the machine and its load, so it is \
         measured in every run and printed with every ranking.",
    ),
    word(
        "trust",
        &["grade"],
        "How reliable the comparisons of a run are. 'Good' means that no disturbance is known; 'fair' that some cells or the \
         state of the machine are not ideal; 'poor' that the noise floor is high, a warning is grave, or not \
         everything was measured. The main reason follows the grade, and --warnings prints all of them with what to do.",
    ),
    word(
        "tie",
        &["ties"],
        "Two variants between which this run found no difference: their ratio is within the noise floor, or its interval \
         contains 1. Ties share a rank, and any of them is a good choice; take the simplest.",
    ),
    word(
        "ratio",
        &["paired ratio"],
        "The time of one variant divided by that of another in the same round; the median over all \
         rounds is printed with its interval. Both were measured within moments of each other, so a \
         drifting clock or other load cancels out. Below 1 is faster. Ratios are of gross times.",
    ),
    word(
        "limit",
        &["limits"],
        "The most bytes per tick that one core loaded, stored, or stored non-temporally at a level of the memory in this \
         run: the best of several plain loops, or of the variants where one of them beat the loops. No \
         routine can beat the machine, so the limit shows how much can still be gained.",
    ),
    word(
        "share of the limit",
        &["limit_share", "share"],
        "The time that the machine's limit would allow for the call's bytes, but at least a null call, over the time \
         that it took. Near 100 %, hardly anything can be gained under that condition. It is never more: a \
         variant that beats the measured limit becomes the limit. Latencies have no such share.",
    ),
    word(
        "critical chain",
        &["critical path", "dependency chain"],
        "The longest sequence of instructions each of which waits for the one before. However wide the core is, it \
         cannot be faster than the latencies along this chain. Two accumulators instead of one halve it \
         for a checksum; most fast kernels rely on this.",
    ),
    word(
        "claim",
        &["claims"],
        "A statement about speed from one of this project's source documents, such as 'skipping the read \
         before the write saves two thirds'. 'carryline reproduce' repeats its experiment on this \
         machine and gives a verdict.",
    ),
    word(
        "verdict",
        &["verdicts", "holds", "does not hold here", "reversed", "undecided"],
        "The answer to a claim: it holds, does not hold here, is reversed here, or cannot be measured here, with the \
         reason. It fails only where no machine could save it, as a wrong sum. A verdict cites the two figures that it \
         compares and the noise floor; a difference within the floor is undecided. Verification has verdicts as \
         well: right, wrong, or known-bad and caught.",
    ),
    word(
        "one's-complement sum",
        &["ones complement sum", "one's complement"],
        "Addition of 16-bit words in which a carry out of the top is added back at the bottom. It does not depend on \
         the order of the words, nor on the byte order, except that the result is swapped with it. It has two zeros: \
         0 arises only when everything summed is 0, and 0xffff stands for every other multiple of 65535.",
    ),
    word(
        "end-around carry",
        &[],
        "The rule that makes a sum a one's-complement sum: a carry out of the highest bit is added at \
         the lowest. A kernel that drops one such carry is right for most data and wrong for some, which \
         is why random tests miss it and data of nearly all ones finds it.",
    ),
    word(
        "fold",
        &["folding"],
        "Reducing a wide sum to 16 bits by adding its upper half to its lower half until only 16 bits are left, each \
         time with the end-around carry. A kernel may sum in 32, 64 or 512 bits and fold once at the end, if its \
         lanes cannot overflow before.",
    ),
    word(
        "partial sum",
        &["partial sums", "unfolded sum"],
        "A sum that is not folded yet, or covers only part of the message, and is passed as the seed of \
         the next part. Its upper bits are arbitrary: two correct kernels may return different 32-bit \
         sums that fold to the same 16 bits. A part that begins at an odd position counts with its bytes swapped.",
    ),
    word(
        "pseudo-header",
        &[],
        "The addresses, the protocol and the length, which TCP and UDP checksums cover although they are not part of \
         the segment. It is summed separately and passed as the seed. Sizes taken from captures leave it out.",
    ),
    word(
        "seed",
        &["initial sum"],
        "Two things. For a checksum: the initial sum, from a pseudo-header or an earlier part of the \
         message. For a run: the seed of the random generator (--seed), so that the same seed repeats \
         the same sizes, offsets and orders.",
    ),
];
