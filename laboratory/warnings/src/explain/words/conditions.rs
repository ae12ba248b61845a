//! Terms for the conditions of a cell, and for memory and caches.

use super::{Word, word};

pub(super) const WORDS: &[Word] = &[
    word(
        "hot",
        &["warm cache"],
        "The cache state in which the same buffers are used repeatedly: they are written and read before \
         each batch, followed by a few untimed calls, so that the caches are in the state in which the \
         routine itself leaves them. It shows the kernel at its best; few programs find their data in \
         that state.",
    ),
    word(
        "cold",
        &["cold cache"],
        "The cache state in which the data is in memory when the call begins. There are several methods \
         (clflush, evict, arena), which leave translations and prefetchers in different states and give \
         different figures; and a call in a stream of calls that miss costs less than an isolated one. So \
         method and batch are part of the name, and a table never mixes them.",
    ),
    word(
        "stream of misses",
        &["cold batch"],
        "The meaning of cold:clflush, cold:evict and cold:arena: a batch of calls none of which finds \
         its buffers in the caches, so that the misses of one call overlap with those of the next. The number of calls \
         depends only on sizes and caches (up to 256, and no more than fit into a quarter of the second \
         level with all their cold buffers), never on the time available; every second batch has twice as many. The number is part \
         of the result.",
    ),
    word(
        "single",
        &["cold:METHOD:single"],
        "One isolated cold call: a batch of one call, never doubled, with no other work before or after \
         it (--cache cold:clflush:single, also with :src or :dst). Its code is warm, its data is not. It \
         shows how long a single call waits; stores still in the store buffer when it returns are not \
         included, so no advice is derived from it and it has no share of a limit. A stream of calls overlaps its misses and pays for its stores.",
    ),
    word(
        "mixed",
        &["mixed:P"],
        "The cache state in which each buffer of each call is hot with a probability of P percent, and \
         otherwise fresh lines of a buffer too large to cache, drawn for every call and buffer (--cache \
         mixed:50). Most programs are between hot and cold. The result states which share was hot.",
    ),
    word(
        "beside",
        &["beside stream", "company"],
        "What another core does while calls are timed: nothing, or stream, where it repeatedly reads and \
         writes a buffer too large to cache (--beside stream). It begins before the first round and ends \
         after the last; the result states how much it moved. A routine that is fast on an idle machine may not be \
         fast on a busy one, because the last cache level and memory are shared.",
    ),
    word(
        "cold:clflush",
        &["clflush"],
        "Before each batch every line of the buffers is flushed, followed by a fence; every call of the \
         batch has its own buffers. The lines are reliably cold, but the address translation stays warm, \
         unlike in a program that touches its data for the first time.",
    ),
    word(
        "cold:evict",
        &["evict", "cold:evict-once"],
        "A buffer of twice the last cache level is read twice between batches, so that it evicts the calls' \
         lines. (Until November 2026 it was read once, which left part of them in the last level of a Zen 5; \
         runs from then say cold:evict-once.) The caches are then full of other lines, all of them clean: a busy \
         program also finds modified ones, which must be written back first.",
    ),
    word(
        "cold:arena",
        &["arena", "cold:arena-reused", "mixed:P-reused"],
        "Each call gets fresh lines of a buffer too large to cache; all its lines are used in turn, so that each was \
         last used as many bytes ago. (Until November 2026 only the pages were used in turn, and short buffers found \
         a part of their lines in the last level; runs from then say cold:arena-reused.) Lines and translations are \
         both cold. The calls of a batch use them in random order, so that prefetchers help only within a buffer.",
    ),
    word(
        "footprint",
        &["footprints"],
        "The bytes that a cell accesses before it returns to the same cache line: of cold buffers whole lines, of hot ones the \
         largest call, and a page more if offsets are drawn from the page. It decides at which level of the memory the cell \
         is: a routine that is fast within L1 may not be beyond it.",
    ),
    word(
        "level",
        &["levels", "cache level"],
        "The part of the memory in which a cell's data is: L1, L2, L3 or memory. Of hot cells it is the nearest one that holds \
         the footprint; cold data is in memory. Each level has limits of its own. 'Between' two levels means that \
         the nearer one holds a part of the data.",
    ),
    word(
        "non-temporal",
        &["nt", "nontemporal", "non-temporal store", "nt store", "nt stores", "streaming store", "movnt"],
        "A store that bypasses the caches: full lines are written to memory without being read first. It \
         saves half of a cold write's traffic and a third of a copy's. Reading the data soon afterwards \
         means fetching it from memory, and an sfence is needed before the data is handed to another \
         thread.",
    ),
    word(
        "write-allocate",
        &["read for ownership", "RFO"],
        "The way an ordinary store to an uncached line works: it fetches the line, then changes it in the cache. A cold \
         write therefore reads as much as it writes. Non-temporal stores and some string instructions avoid it.",
    ),
    word(
        "bandwidth",
        &["memory bandwidth"],
        "The bytes per second that memory can deliver or accept. A program sees less than the bus moves: \
         an ordinary write to a line in memory reads the line first, so it counts twice there. \
         'carryline reproduce bandwidth' takes the most that any pass of one core moves as the total; \
         several cores may get more.",
    ),
    word(
        "start-up",
        &["startup", "rep movsb", "rep stosb", "string instruction"],
        "The cost of a string instruction (rep movs, rep stos) before it moves anything: the a of T(n) = a + n / b, where b is \
         its rate. Newer CPUs have a separate path for short strings, which is faster than that line. 'carryline reproduce \
         string-startup' fits the line and draws the curve.",
    ),
    word(
        "half-performance length",
        &["half-performance", "n-half"],
        "The length at which half of the time is start-up: a times b if T(n) = a + n / b. Shorter \
         calls mostly pay for the start-up, longer ones for their bytes. Published for rep movsb: 25 cycles times 32 bytes per cycle, 800 bytes.",
    ),
    word(
        "dirty block",
        &["dirty-check", "break-even share"],
        "A block of 32 bytes that is not all zero. A routine that checks before it writes skips clean \
         blocks, and pays for the check in all of them. The break-even share is the share of dirty \
         blocks above which writing everything is cheaper.",
    ),
    word(
        "page colour",
        &["page coloring", "pagemap"],
        "The bits of a page's physical address (its frame) that decide which cache sets, or which memory \
         bank, its lines use. A root program can read its frames in /proc/self/pagemap but not choose \
         them; in a virtual machine they are the guest's. 'carryline reproduce page-colour' compares their orders.",
    ),
    word(
        "latency ladder",
        &["pointer chase"],
        "The time of a load whose address comes from the previous load, for buffers of growing size: it \
         rises where a cache level ends. The order is random, or a prefetcher would hide the latency. \
         The marginal latency of a buffer's second half shows the levels more clearly than the mean, as \
         part of a buffer stays in the cache that it outgrew.",
    ),
    word(
        "vDSO",
        &[],
        "Code that the kernel maps into every process to serve some calls, such as the time, in user \
         mode. The cost of such a call says nothing about system calls; 'carryline reproduce syscall' shows both.",
    ),
    word(
        "first touch",
        &["page fault", "prefault"],
        "The first write to a page that the kernel has reserved but not yet provided: it faults, and the \
         kernel finds, zeroes and maps a page, which costs far more than the write. Buffers are written \
         once beforehand, sources too, since an untouched source is one shared page of zeros.",
    ),
    word(
        "huge pages",
        &["pages", "transparent huge pages", "4k"],
        "The pages on which the buffers are mapped: base pages (usually 4 KiB) or transparent huge pages (2 MiB) on request. \
         Large buffers on base pages need more translations than the TLB holds. The kernel may \
         refuse huge pages, so a result states how many bytes got them.",
    ),
    word(
        "dependence",
        &[],
        "The relation between successive calls in the timed loop: chained, independent or fenced. The same \
         routine can cost several times as much in one as in another, and each answers a different \
         question. So it is part of every cell, \
         and a table never mixes them.",
    ),
    word(
        "chained",
        &["chained calls"],
        "Each call waits for the result of the one before: a sum is the next call's seed; after zero or copy, the next \
         address depends on a load of the byte written last. It shows the latency of that path, which is \
         what a program pays when it needs the result immediately.",
    ),
    word(
        "independent",
        &["throughput"],
        "Calls do not depend on each other, and the core overlaps them as far as it can. It shows throughput: the cost of one \
         more call in a stream of them.",
    ),
    word(
        "fenced",
        &["lfence", "latency"],
        "A fence (lfence) before and after every call: it overlaps with nothing else. It shows the time \
         from the first instruction to the last result. The cost of the fences is part of the null call \
         too, and is subtracted with it.",
    ),
    word(
        "offsets",
        &["offset", "alignment"],
        "The offsets at which buffers begin, in bytes past a page boundary: one number for all, D:S for destination \
         and source; random, drawn for every call and buffer from the whole page; alias, where source \
         and destination are nearly equal modulo 4096; random-line, 0 to 63; or end, where every buffer \
         ends at a page boundary and nothing is mapped after a hot one. Aligned buffers flatter most \
         routines. Real ones begin anywhere, and each crossed line costs a second access.",
    ),
    word(
        "random offsets",
        &["random"],
        "Each buffer of each call begins at its own offset, drawn from the whole page (0 to 4095). A hot \
         buffer moves within its size rounded up to pages, plus one or two. Until this was recognised as \
         a fault, 'random' meant 0 to 63 past the same page offset, which is now random-line and almost \
         an alias; stored runs of that time are shown as random-line.",
    ),
    word(
        "alias",
        &["4K aliasing", "4 KiB aliasing"],
        "Source and destination whose addresses differ by 1 to 63 bytes modulo 4096, the destination as \
         often above as below the source, drawn for every call (--offsets alias). A load there seems to \
         depend on a pending store, as the low 12 bits of addresses are compared first, and on some CPUs \
         rep movsb becomes many times slower. Of randomly placed pairs, 3 in 100 are aliases.",
    ),
    word(
        "random-line",
        &[],
        "Offsets of 0 to 63, drawn for every call and buffer. Hot buffers begin on a page boundary, so \
         the two of a copy always lie within 63 bytes of each other modulo 4096: nearly all calls are \
         aliases. Kept for comparison with random, whose name it once had.",
    ),
    word(
        "sizes",
        &["size"],
        "The number of bytes of each call: a number, a range LOW..HIGH, fleet:NAME, histogram:FILE or capture:FILE. Fixed \
         sizes train the branch predictor, which hides the cost of a size ladder. So mixed sizes come in \
         sequences too long to be learnt.",
    ),
    word(
        "fleet",
        &["fleet:"],
        "The sizes with which production services call memcpy, memmove and memset: six services, eighteen distributions, from the \
         LLVM project's libc benchmarks (published with 'automemcpy', ISMM 2021). Use them with --sizes \
         fleet:memcpy-A and similar. In nearly all of them most calls are for 64 bytes or less.",
    ),
    word(
        "histogram",
        &["histogram:"],
        "A file of your own sizes, used with --sizes histogram:FILE. It holds either the weights of size \
         0, 1, 2, ... on one line, or lines of 'size,count'; '#' begins a comment. Weights need not be \
         normalised.",
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
         --segments 1,3,1,3. It is how network stacks hold packets. An odd segment swaps the byte \
         positions of everything after it, and each segment pays the call overhead.",
    ),
    word(
        "then",
        &["what follows"],
        "What follows each call within the timed region: nothing, read, read-later:BYTES or victim:BYTES. A \
         call leaves the caches in some state, and later code pays for it. A routine that bypasses the \
         caches looks fast until its result is read.",
    ),
    word(
        "read",
        &["then read"],
        "The result of the call is read line by line immediately, inside the timed region. It shows the \
         cost of zeroing or copying together with the first use. Non-temporal stores lose here what they \
         saved.",
    ),
    word(
        "read-later",
        &[],
        "The result is read after calls on other buffers have moved the given number of bytes. With a small distance it \
         is still cached; with a large one it is in memory whichever way it was written. The size at \
         which the two are equal is the size from which bypassing the caches pays.",
    ),
    word(
        "victim",
        &["working set"],
        "A separate working set of the given size is read line by line after each call. It pays for what \
         the call evicted from the caches. The null call's share is subtracted, so the net time is the \
         call plus the slowdown that it causes elsewhere.",
    ),
];
