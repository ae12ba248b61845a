//! The vocabulary: one entry per word, in the order in which a reader meets them.

use super::Word;

const fn word(word: &'static str, also: &'static [&'static str], text: &'static str) -> Word {
    Word { word, also, text }
}

/// Every word that can be explained.
pub(super) const WORDS: &[Word] = &[
    word(
        "variant",
        &[],
        "One way to do a family's job: a kernel, a library's function, a string instruction. Every variant of a \
         family has the same contract and is proved against the same reference before it is timed. 'carryline \
         list' shows all of them, with what they need of the CPU and where they come from.",
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
        "The family of routines that set a range of bytes to zero. What it costs depends on where the lines are: \
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
         and is folded to 16 bits at the end, which is why so many different kernels are right.",
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
        "All that a measurement holds fixed besides the variant: sizes, offsets, cache state and the way it was \
         made, dependence between calls, page size, segments, and what follows each call. A figure without its \
         condition answers no question.",
    ),
    word(
        "cell",
        &["cells"],
        "One verified variant under one condition: the unit that is timed and stored, a row of a table. Cells of one \
         situation are measured against each other, round by round.",
    ),
    word(
        "situation",
        &["situations"],
        "A condition with a name that people ask about, such as packets at random offsets or a buffer too large to \
         cache. Each has one ranking. Its sizes are chosen from the caches and the memory of the machine, and the \
         label says what was used.",
    ),
    word(
        "round",
        &["rounds"],
        "Every cell of a comparison once, in a random order that changes from round to round. A disturbance or a \
         drift of the clock then hits all cells alike, and ratios formed within a round are free of it.",
    ),
    word(
        "replicate",
        &["replicates"],
        "One worker process with its own layout of stack, heap and buffers. Two processes place the same code and \
         data differently, and a few percent of speed may hang on that alone; several replicates show how much. \
         Intervals are computed over replicates, not over samples of one process, which are not independent.",
    ),
    word(
        "worker",
        &["workers", "worker process"],
        "The process that proves and times: the command starts itself again for it. A variant that crashes, hangs \
         or overwrites memory ruins its worker only; the command reads from outside what it was called with, writes \
         that into its row, and goes on with the rest.",
    ),
    word(
        "batch",
        &["batches"],
        "A number of calls timed together, so many that they take at least a microsecond. Reading the counter costs \
         tens of ticks and is uncertain by its step; over a batch that vanishes. Each cell is timed with N and with \
         2N calls, and the two must agree.",
    ),
    word(
        "proof",
        &["verify", "verified", "prove"],
        "What a variant must pass in the same process before it is timed: all short lengths and those around powers \
         of two and overflow bounds, all offsets in a line, data that provokes carries, seeds, protected pages on \
         both sides, and registers unchanged after the call. It is a thorough test and no mathematical proof. A \
         variant that fails is reported with the smallest input found, and never ranked.",
    ),
    word(
        "known-bad",
        &[],
        "A variant kept although it is wrong, with the reason: a published listing that loses a carry, a library \
         with a bug. 'carryline verify' must catch it, which shows that the proof can see such faults. It is never \
         ranked.",
    ),
    word(
        "estimate",
        &["estimates", "median"],
        "A figure with its doubt: the median over replicates of their medians, the ends of its 95 % interval, and \
         the smallest sample. The median is what a call usually costs. The minimum is what it costs when nothing \
         interferes, which real programs seldom see.",
    ),
    word(
        "interval",
        &["95 % interval", "confidence interval", "bootstrap"],
        "The range that would hold the median in 95 of 100 repetitions of the whole run. It is the wider of two: a \
         bootstrap, in which replicates and their rounds are drawn anew a thousand times, and Student's t over the \
         replicates, because a bootstrap over few of them is too sure of itself. It covers chance, and not what all replicates have in common, such as a neighbour on the host.",
    ),
    word(
        "A/A",
        &["AA", "A/A pair", "A/A test"],
        "One variant measured twice under two names, as if it were two. Everything by which the two seem to differ is \
         noise. Each situation has such a pair, its baseline with itself, and the noise floor comes from it.",
    ),
    word(
        "noise floor",
        &["A/A floor"],
        "The relative difference below which nothing is called different in a situation, found by timing its baseline \
         under two names; at least half a percent. It depends on the machine and on its mood, so it is measured anew \
         in every run and printed with every ranking.",
    ),
    word(
        "tie",
        &["ties"],
        "Two variants that this run cannot tell apart: their ratio is within the noise floor, or its interval \
         contains 1. Ties share a rank, and any of them is a right answer; take the simplest.",
    ),
    word(
        "ratio",
        &["paired ratio"],
        "The time of one variant over that of another in the same round, of which the median over all rounds is \
         printed with its interval. Both were measured within moments of each other, so a drifting clock or a busy \
         neighbour cancels out. Below 1 is faster. Ratios are of gross times.",
    ),
    word(
        "limit",
        &["limits"],
        "The most bytes per tick that one core can load, store, or store non-temporally at a level of the memory, \
         measured in the same run with the plainest loops. No routine can beat the machine: the limit says how much \
         is left to gain.",
    ),
    word(
        "share of the limit",
        &["limit_share", "share"],
        "The time that the machine's limit would allow for the call's bytes, but at least a null call, over the time \
         that it took. Near 100 % nothing remains to be gained in that condition. A little above 100 % is possible, \
         because the limit is itself a measurement. Latencies have no such share.",
    ),
    word(
        "critical chain",
        &["critical path", "dependency chain"],
        "The longest sequence of instructions each of which waits for the one before. However wide the core is, it \
         cannot be faster than the latencies along this chain. Two accumulators instead of one halve it for a \
         checksum; that is what most fast kernels are about.",
    ),
    word(
        "claim",
        &["claims"],
        "A statement about speed from one of the documents that this project grew out of, such as 'skipping the read \
         before the write saves two thirds'. 'carryline reproduce' runs its experiment again on this machine and \
         answers it with a verdict.",
    ),
    word(
        "verdict",
        &["verdicts", "holds", "reversed", "undecided"],
        "The answer to a claim: it holds, fails, is reversed, or cannot be measured here, with the reason. A verdict \
         cites the two figures that it compares and the noise floor; a difference within the floor is undecided. A \
         proof has verdicts as well: right, wrong, or known-bad and caught.",
    ),
    word(
        "one's-complement sum",
        &["ones complement sum", "one's complement"],
        "Addition of 16-bit words in which a carry out of the top is added back at the bottom. It does not depend on \
         the order of the words, nor on the byte order, save that the result is swapped with it. It has two zeros: \
         0 arises only when everything summed is 0, and 0xffff stands for every other multiple of 65535.",
    ),
    word(
        "end-around carry",
        &[],
        "The rule that makes a sum a one's-complement sum: what is carried out of the highest bit is added at the \
         lowest. A kernel that drops one such carry is right for most data and wrong for some, which is why random \
         tests miss it and data of nearly all ones finds it.",
    ),
    word(
        "fold",
        &["folding"],
        "Reducing a wide sum to 16 bits by adding its upper half to its lower half until nothing is left above, each \
         time with the end-around carry. A kernel may sum in 32, 64 or 512 bits and fold once at the end, if its \
         lanes cannot overflow before.",
    ),
    word(
        "partial sum",
        &["partial sums", "unfolded sum"],
        "A sum that is not folded yet, or covers only part of the message, and is handed on as the seed of the next \
         part. Its upper bits are free: two right kernels may return different 32-bit sums that fold to the same \
         16 bits. A part that begins at an odd position counts with its bytes swapped.",
    ),
    word(
        "pseudo-header",
        &[],
        "The addresses, the protocol and the length, which TCP and UDP checksums cover although they are not part of \
         the segment. It is summed apart and comes in as the seed. Sizes taken from captures leave it out.",
    ),
    word(
        "seed",
        &["initial sum"],
        "Two things. For a checksum: the sum to begin with, from a pseudo-header or an earlier part of the message. \
         For a run: the number from which everything random follows (--seed), so that the same seed repeats the same \
         sizes, offsets and orders.",
    ),
    word(
        "hot",
        &["warm cache"],
        "The cache state in which the same buffers are used again and again, written and read before each batch, \
         with a few untimed calls behind that, so that the caches are in the state in which this very routine leaves \
         them. It shows the kernel at its best; few programs find \
         their data like that.",
    ),
    word(
        "cold",
        &["cold cache"],
        "The cache state in which the data is in memory when the call begins. There are several ways to bring that \
         about (clflush, evict, arena), which leave translations and prefetchers in different states and give \
         different figures. So the method is part of the name, and a table never mixes them.",
    ),
    word(
        "cold:clflush",
        &["clflush"],
        "Every line of the buffers is flushed, one by one, then a fence, before each batch, in which \
         every call has buffers of its own. It is exact about the \
         lines and leaves the address translation warm, which a program that comes to its data for the first time \
         does not find.",
    ),
    word(
        "cold:evict",
        &["evict"],
        "A buffer of twice the last cache level is read between batches, so that other data pushes the calls' lines \
         out. The caches are then full of foreign lines, all of them clean: a busy program also finds modified ones, \
         which must be written back first.",
    ),
    word(
        "cold:arena",
        &["arena"],
        "Each call gets fresh lines of a buffer too large to cache, last touched a whole walk ago. Lines and \
         translations are both cold. It resembles a program that streams through its data, prefetchers included.",
    ),
    word(
        "non-temporal",
        &["nt", "nontemporal", "non-temporal store", "streaming store", "movnt"],
        "A store that goes past the caches: full lines are written to memory without being read first. It saves half \
         of a cold write's traffic and a third of a copy's. Whoever reads the data soon afterwards pays by fetching \
         it from memory, and an sfence must stand before the data is handed to another thread.",
    ),
    word(
        "write-allocate",
        &["read for ownership", "RFO"],
        "What an ordinary store to an uncached line does: it fetches the line, then changes it in the cache. A cold \
         write therefore reads as much as it writes. Non-temporal stores and some string instructions avoid it.",
    ),
    word(
        "bandwidth",
        &["memory bandwidth"],
        "The bytes that memory can deliver or take in a second. A program sees less of it than the bus moves: an ordinary \
         write to a line in memory reads the line first, so it counts twice there. 'carryline reproduce bandwidth' takes \
         the most that any pass of one core moves as the whole; more cores may get more.",
    ),
    word(
        "start-up",
        &["startup", "rep movsb", "rep stosb", "string instruction"],
        "What a string instruction (rep movs, rep stos) costs before it moves anything: the a of T(n) = a + n / b, where b is \
         its rate. Newer CPUs take short strings on a path of their own, below that line. 'carryline reproduce \
         string-startup' fits the line and draws the curve.",
    ),
    word(
        "half-performance length",
        &["half-performance", "n-half"],
        "The length at which half of the time is start-up: a times b where T(n) = a + n / b. Shorter calls pay mostly for \
         being made, longer ones for their bytes. Published for rep movsb: 25 cycles times 32 bytes a cycle, 800 bytes.",
    ),
    word(
        "dirty block",
        &["dirty-check", "break-even share"],
        "A block of 32 bytes in which something is not zero. A routine that looks before it writes leaves clean blocks \
         alone, and pays for the look in all of them. The break-even share is the share of dirty blocks from which on \
         writing everything is cheaper.",
    ),
    word(
        "page colour",
        &["page coloring", "pagemap"],
        "The bits of a page's place in physical memory (its frame) that decide which sets of a cache, or which bank of \
         memory, its lines use. A program sees its frames in /proc/self/pagemap if it is root and chooses none; in a \
         virtual machine they are the guest's. 'carryline reproduce page-colour' compares their orders.",
    ),
    word(
        "latency ladder",
        &["pointer chase"],
        "The time of a load whose address comes from the load before, for buffers of growing size: it rises where a cache \
         ends. The order is random, or a prefetcher would hide the latency. What a buffer's second half adds shows the \
         levels more clearly than the mean, as a part of a buffer stays in the cache that it outgrew.",
    ),
    word(
        "vDSO",
        &[],
        "A piece of code that the kernel maps into every process to answer some calls, such as the time, without being \
         entered. What such a call costs says nothing about system calls; 'carryline reproduce syscall' shows both.",
    ),
    word(
        "first touch",
        &["page fault", "prefault"],
        "The first write to a page that the kernel has promised and not yet provided: it faults, finds a page, zeroes \
         it and maps it, which costs far more than the write. Buffers are written once beforehand, sources too, since \
         an untouched source is one shared page of zeros.",
    ),
    word(
        "huge pages",
        &["pages", "transparent huge pages", "4k"],
        "What the buffers are mapped with: base pages (usually 4 KiB) or transparent huge pages (2 MiB) on request. \
         Large buffers on base pages need hundreds of translations that the CPU cannot all remember. The kernel may \
         refuse huge pages, so a result says how many bytes got them.",
    ),
    word(
        "dependence",
        &[],
        "How calls follow each other in the measuring loop: chained, independent or fenced. The same routine can cost \
         several times as much in one as in another, and each answers its own question. So it is part of every cell, \
         and a table never mixes them.",
    ),
    word(
        "chained",
        &["chained calls"],
        "Each call waits for the result of the one before: a sum is the next call's seed; after zero or copy, the next \
         address depends on a load of the byte written last. It shows the latency through that path, which is what a \
         program pays when it needs the result at once.",
    ),
    word(
        "independent",
        &["throughput"],
        "Calls do not depend on each other, and the core overlaps them as far as it can. It shows throughput: what one \
         more call costs in a stream of them.",
    ),
    word(
        "fenced",
        &["lfence", "latency"],
        "A fence (lfence) before and after every call: nothing of it overlaps with anything else. It shows the time \
         from the first instruction to the last result. The fences' own cost is in the null call too, and is \
         subtracted with it.",
    ),
    word(
        "offsets",
        &["offset", "alignment"],
        "Where the buffers begin, in bytes past a page boundary: one number for all, D:S for destination and source, or \
         random, drawn for every call from 0 to 63; or end, where every buffer ends with a page and behind that of a hot \
         one nothing is mapped. Aligned buffers flatter most routines. Real ones begin anywhere, \
         and lines that are crossed cost a second access.",
    ),
    word(
        "sizes",
        &["size"],
        "How many bytes each call gets: a number, a range LOW..HIGH, fleet:NAME, histogram:FILE or capture:FILE. Fixed \
         sizes train the branch predictor, which hides the cost of a size ladder. So random sizes are drawn from \
         sequences too long to be learnt.",
    ),
    word(
        "fleet",
        &["fleet:"],
        "Sizes as production services call memcpy, memmove and memset: six services, eighteen distributions, from the \
         LLVM project's libc benchmarks (published with 'automemcpy', ISMM 2021). Use them with --sizes \
         fleet:memcpy-A and its likes. In nearly all of them most calls are for 64 bytes or less.",
    ),
    word(
        "histogram",
        &["histogram:"],
        "A file of your own sizes, used with --sizes histogram:FILE. It holds either the weights of size 0, 1, 2, ... on \
         one line, or lines of 'size,count'; '#' begins a comment. Any scale will do.",
    ),
    word(
        "capture",
        &["capture:", "pcap", "pcapng"],
        "Sizes of the packets in a pcap or pcapng file, used with --sizes capture:FILE: header and data of TCP, UDP and \
         ICMP, as the transport checksum covers them. A capture that kept only the first bytes of each packet is \
         enough. Packets that cannot be used are counted by reason and reported (W19).",
    ),
    word(
        "segments",
        &["segment", "mbuf chain"],
        "Lengths of the buffers that make up one message, each at its own random alignment, checksummed as one: \
         --segments 1,3,1,3. It is how network stacks hold packets. An odd segment swaps the byte positions of \
         everything behind it, and the call's overhead comes once per segment.",
    ),
    word(
        "then",
        &["what follows"],
        "What happens after each call inside the timed region: nothing, read, read-later:BYTES or victim:BYTES. A call \
         leaves the caches in some state, and somebody pays for it. A routine that goes past the caches looks fast \
         until its result is read.",
    ),
    word(
        "read",
        &["then read"],
        "The result of the call is read line by line at once, inside the timed region. It shows what zeroing or copying \
         costs together with the first use. Non-temporal stores lose here what they saved.",
    ),
    word(
        "read-later",
        &[],
        "The result is read after calls on other buffers have moved the given number of bytes. With a small distance it \
         is still cached; with a large one it is in memory whichever way it was written. Where the two meet is the \
         size from which going past the caches pays.",
    ),
    word(
        "victim",
        &["working set"],
        "A working set of the given size, foreign to the call, is read line by line after each call. What the call pushed \
         out of the caches is paid for there. The null call's share is subtracted, so the net is the call plus the \
         slow-down that it causes around itself.",
    ),
    word(
        "gross",
        &["gross time"],
        "The time per call as the loop shows it, the call itself included: loading the arguments, the jump through a \
         pointer, the return. Ratios and rates are formed from gross times, because a program pays them too.",
    ),
    word(
        "net",
        &["net time"],
        "The gross time less that of the null call in the same loop: what the routine adds to an empty one. For a few \
         bytes it is a small difference of two larger figures and can come out near zero, so the gross figure is \
         always kept beside it.",
    ),
    word(
        "null call",
        &["empty call", "overhead"],
        "A routine with the family's signature that does nothing, measured in every round like a variant. It shows what \
         the loop and the call cost alone. It is called through a pointer, as all variants are, so that no compiler \
         can remove it.",
    ),
    word(
        "ticks",
        &["tsc", "time-stamp counter", "rdtsc"],
        "Steps of the CPU's time-stamp counter. On current CPUs it runs at a constant rate whatever the core does, so \
         ticks are time and not core cycles: a core at twice that rate does two cycles in a tick. Some machines \
         advance it in steps of tens of ticks.",
    ),
    word(
        "cycles",
        &["core cycles", "est", "pmu"],
        "Clock periods of the core: the unit in which a kernel's cost hardly depends on the clock. With a hardware \
         counter they are counted (basis pmu); otherwise they are ticks divided by the ticks per cycle of a dependent \
         chain, timed between the rounds (basis est). A cost in memory is a time, and its cycles do change with the \
         clock.",
    ),
    word(
        "steal",
        &["stolen"],
        "Time in which this virtual machine had work and its host ran something else. The kernel counts it where the \
         host reports it. It is read before and after a run, and a warning tells when it was more than a trace.",
    ),
    word(
        "steady",
        &["warm-up", "steady state"],
        "The state in which a cell's times no longer change from round to round: caches filled, predictors trained, the \
         clock settled, vector units powered. Warming up goes on until that is seen, for a quarter of the situation's \
         time at most; its rounds are not counted, and a warning says where it was never seen.",
    ),
    word(
        "minor fault",
        &["fault"],
        "An access to a page without a translation that the kernel settles without a disk: the CPU enters the kernel, \
         which maps a page. A write to new anonymous memory also has it cleared; a read maps the one page of zeros \
         instead, and the write after it faults again. 'carryline reproduce first-touch' takes the entry and the \
         clearing apart.",
    ),
    word(
        "frame",
        &["page frame"],
        "The piece of physical memory behind a page. The kernel hands out first the frames that were given back last, so \
         a page that is new to a program may still be in the cache, which decides what clearing it costs.",
    ),
    word(
        "pre-zeroing",
        &["prezero", "zeroing on demand"],
        "Clearing free pages ahead of their use, in idle time, so that they are ready when they are allocated. Whoever \
         clears on demand pays at the allocation and finds the page in the cache; whoever clears ahead pays with \
         misses at the first use. The sum of both decides: 'carryline reproduce prezero'.",
    ),
    word(
        "store buffer",
        &["write buffer", "drained"],
        "Where stores wait, finished for the program, until the cache takes them. A store, or a whole page of wide ones, \
         may so seem free although its lines are not cached. Times of which 'drained' is said end when the buffer is \
         empty.",
    ),
    word(
        "vector state",
        &["XSAVE", "dirty vector state", "clean vector state", "task switch"],
        "The x87, xmm, ymm, zmm and mask registers of a thread. At a task switch the kernel saves what is in use \
         (XSAVES) and restores it later (XRSTORS); registers in their initial state are in use no more, and cost \
         little. A state is dirty where a program wrote to them, clean where it did not or cleared them (vzeroupper \
         clears all but the lower halves of the first sixteen).",
    ),
    word(
        "pollution",
        &["cache pollution"],
        "What a routine does to others by filling the caches with its own lines: their working set must be fetched again. \
         The victim is the working set whose second reading is timed, after the routine or beside it: '--then \
         victim:BYTES', 'carryline reproduce pollution'.",
    ),
    word(
        "baseline",
        &[],
        "The variant that a family's ratios refer to: libc for zero and copy, the kernel's classic form with one carry \
         chain for checksum. It is the routine that people would use without thinking, and not the slowest one that \
         could be found.",
    ),
    word(
        "reference",
        &[],
        "The plainest right implementation of a family, written for nothing but to be obviously right, and never changed. \
         All others are proved against it. It is ranked too, to show what plainness costs.",
    ),
    word(
        "budget",
        &[],
        "The time that a command may take: --budget 60s. The proof comes first; what is left is shared among the \
         replicates, and in each of them among the situations by weight. More budget means more rounds and \
         replicates, and narrower intervals. A warning says what got no round, and what took much longer. --plan \
         shows what would be measured, without measuring.",
    ),
    word(
        "plugin",
        &["plug-in", "plugins"],
        "A routine of your own in a shared object, named by --plugin FILE.so:SYMBOL:FAMILY. It has the plain C signature \
         of its family, is loaded in the worker processes only, and is proved and measured like every other variant. \
         A crash or a hang in it becomes a row that says so.",
    ),
    word(
        "interposer",
        &["LD_PRELOAD", "CARRYLINE_PRELOAD", "libcarryline-preload.so"],
        "A shared library that serves memcpy, memmove, memset and their relatives in a program that knows nothing of it: \
         LD_PRELOAD=libcarryline-preload.so PROGRAM. CARRYLINE_PRELOAD=zero leaves copying to the C library, \
         CARRYLINE_FORCE_ZERO=movntps and CARRYLINE_FORCE_COPY=rep_movsb choose variants. Calls inside the C library, \
         calls that a compiler has inlined and static programs are not reached. 'carryline real' compares a program with \
         it and without.",
    ),
    word(
        "dispatch",
        &["CARRYLINE_FORCE"],
        "How the library chooses a kernel: once, the first one of an ordered list whose features the CPU has and the \
         operating system enables. The order follows measurements. CARRYLINE_FORCE=NAME chooses another, and an \
         unknown name is an error.",
    ),
    word(
        "CARRYLINE_MASK",
        &["mask"],
        "An environment variable that takes CPU features away: CARRYLINE_MASK=avx512f,avx2. What builds on a feature goes \
         with it. It lets the path of a weaker CPU be tested and measured on a strong one; nothing can add a feature.",
    ),
];
