//! What figures are made of, what disturbs them, and what stands around.

use super::{Word, word};

pub(super) const WORDS: &[Word] = &[
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
         always kept beside it. Where it comes out below zero, the call is as fast as one that does nothing: tables say \
         '<null', JSON says within_null_call.",
    ),
    word(
        "null call",
        &["empty call", "overhead"],
        "A routine with the family's signature that does nothing, measured in every round like a variant. It shows what \
         the loop and the call cost alone. It is called through a pointer, as all variants are, so that no compiler \
         can remove it.",
    ),
    word(
        "landing",
        &["procedure linkage table", "PLT"],
        "Where a timed call goes: straight to the code that a program's own call ends in. For the library that is the \
         kernel that its dispatch chose, for libc the function that the dynamic linker chose; a wrapper that only jumps \
         there would be timed with one jump more. All routines of a family are called from one loop, because two \
         copies of a loop lie in two places, which moves the smallest calls by two cycles.",
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
        "The variant that ratios refer to: libc for zero and copy, the kernel's classic form with one carry chain for \
         checksum. It is the best that people have without carryline, and not the slowest that could be found: of the two \
         rows of libc, as installed and with its thresholds for rep movsb and rep stosb raised (no_rep), the \
         faster one in each situation. The header of a ranking names it.",
    ),
    word(
        "no_rep",
        &["libc_memcpy_no_rep", "libc_memmove_no_rep", "libc_memset_no_rep", "GLIBC_TUNABLES"],
        "A row of the C library whose thresholds for rep movsb and rep stosb are out of reach, by \
         the tunables x86_rep_movsb_threshold and x86_rep_stosb_threshold in GLIBC_TUNABLES, in the environment of its worker \
         processes. On some CPUs that is many times as fast as the library as installed. The variable is read when \
         a process starts, so processes with it and without alternate, and no process has both rows: their own ratio \
         comes from the processes' medians and has a wider interval. 'carryline machine' says whether the C library \
         here has these thresholds.",
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
         of its family (or, with 'fill' for the family, that of memset), is loaded in the worker processes only, and is \
         verified and measured like every other variant. A crash or a hang in it becomes a row that says so.",
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
         operating system enables. The order follows measurements. CARRYLINE_FORCE=NAME chooses another in this \
         command, which refuses an unknown name; a program that links the library obeys no variable unless its author \
         turns the crate feature 'environment' on.",
    ),
    word(
        "CARRYLINE_MASK",
        &["mask"],
        "An environment variable that takes CPU features away: CARRYLINE_MASK=avx512f,avx2. What builds on a feature goes \
         with it. It lets the path of a weaker CPU be tested and measured on a strong one; nothing can add a feature.",
    ),
];
