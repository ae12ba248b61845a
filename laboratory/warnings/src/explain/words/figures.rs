//! Terms for figures, disturbances and tools.

use super::{Word, word};

pub(super) const WORDS: &[Word] = &[
    word(
        "gross",
        &["gross time"],
        "The time per call including call overhead: loading the arguments, the call through a pointer, \
         the return. Ratios and rates use gross times, because a program pays the overhead too.",
    ),
    word(
        "net",
        &["net time"],
        "The gross time minus that of the null call in the same loop: the cost of the routine beyond an empty \
         one. For a few bytes it is a small difference of two larger figures and can be near zero, so \
         the gross figure is always given too. Where it would be below zero, the call is as fast as one \
         that does nothing: tables say '<null', JSON and CSV say within_null_call.",
    ),
    word(
        "null call",
        &["empty call", "overhead"],
        "A routine with the family's signature that does nothing, measured in every round like a variant. It \
         shows the cost of the loop and the call alone. Like all variants it is called through a \
         pointer, so that no compiler can remove it.",
    ),
    word(
        "landing",
        &["procedure linkage table", "PLT"],
        "The target of a timed call: directly the code in which a program's own call ends. For the \
         library that is the kernel that dispatch chose, for libc the function that the dynamic linker \
         chose; a wrapper that only jumps there would add a jump. All routines of a family are called \
         from one loop, because two copies of a loop at different addresses differ by two cycles for the \
         smallest calls.",
    ),
    word(
        "ticks",
        &["tsc", "time-stamp counter", "rdtsc"],
        "Steps of the CPU's time-stamp counter. On current CPUs it runs at a constant rate regardless of \
         the core clock, so ticks are time and not core cycles: a core at twice that rate executes two \
         cycles per tick. Some machines advance it in steps of tens of ticks.",
    ),
    word(
        "cycles",
        &["core cycles", "est", "pmu"],
        "Clock periods of the core: the unit in which a kernel's cost hardly depends on the clock. With a hardware \
         counter they are counted (basis pmu); otherwise they are ticks divided by the ticks per cycle of a dependent \
         chain, timed between the rounds (basis est). A memory access takes a fixed time, so its cycles \
         do change with the clock.",
    ),
    word(
        "steal",
        &["stolen"],
        "Time in which this virtual machine had work and its host ran something else. The kernel counts it where the \
         host reports it. It is read before and after a run, and a warning reports a significant amount.",
    ),
    word(
        "steady",
        &["warm-up", "steady state"],
        "The state in which a cell's times no longer change from round to round: caches filled, predictors trained, the \
         clock settled, vector units powered. Warm-up continues until then, for at most a quarter of the \
         situation's time; its rounds are not counted, and a warning names the cells that never settled.",
    ),
    word(
        "minor fault",
        &["fault"],
        "An access to an unmapped page that the kernel resolves without disk access: the CPU enters the \
         kernel, which maps a page. A write to new anonymous memory also has it cleared; a read maps the one page of zeros \
         instead, and a later write faults again. 'carryline reproduce first-touch' separates the entry \
         from the clearing.",
    ),
    word(
        "frame",
        &["page frame"],
        "The physical memory of a page. The kernel reuses the most recently freed frames first, so a \
         page that is new to a program may still be in the cache, which decides what clearing it costs.",
    ),
    word(
        "pre-zeroing",
        &["prezero", "zeroing on demand"],
        "Clearing free pages ahead of their use, in idle time, so that they are ready when they are \
         allocated. Clearing on demand costs time at the allocation but leaves the page in the cache; \
         clearing ahead costs misses at the first use. The sum of both decides: 'carryline reproduce prezero'.",
    ),
    word(
        "store buffer",
        &["write buffer", "drained"],
        "Where retired stores wait until the cache accepts them. A store, or a whole page of wide ones, \
         may therefore seem free although its lines are not cached. Times marked 'drained' end when the \
         buffer is empty.",
    ),
    word(
        "vector state",
        &["XSAVE", "dirty vector state", "clean vector state", "task switch"],
        "The x87, xmm, ymm, zmm and mask registers of a thread. At a task switch the kernel saves what is in use \
         (XSAVES) and restores it later (XRSTORS); registers in their initial state are not in use, and \
         cost little. A state is dirty where a program wrote to them, clean where it did not or cleared them (vzeroupper \
         clears all but the lower halves of the first sixteen).",
    ),
    word(
        "pollution",
        &["cache pollution"],
        "The effect of a routine on other code by filling the caches with its own lines: their working \
         set must be fetched again. The victim is the working set whose second reading is timed, after \
         the routine or concurrently: '--then \
         victim:BYTES', 'carryline reproduce pollution'.",
    ),
    word(
        "baseline",
        &[],
        "The variant that ratios refer to: libc for zero and copy, the kernel's classic form with one carry chain for \
         checksum. It is the best that users have without carryline, not the slowest that could be found: of the two \
         rows of libc, as installed and with its thresholds for rep movsb and rep stosb raised (no_rep), the \
         faster one in each situation. The header of a ranking names it.",
    ),
    word(
        "no_rep",
        &["libc_memcpy_no_rep", "libc_memmove_no_rep", "libc_memset_no_rep", "GLIBC_TUNABLES"],
        "A row of the C library whose thresholds for rep movsb and rep stosb are out of reach, by \
         the tunables x86_rep_movsb_threshold and x86_rep_stosb_threshold in GLIBC_TUNABLES, in the environment of its worker \
         processes. On some CPUs that is many times as fast as the C library as installed. The variable is read when \
         a process starts, so processes with and without it alternate, and no process has both rows: the \
         ratio between them comes from the processes' medians and has a wider interval. 'carryline machine' says whether the C library \
         here has these thresholds.",
    ),
    word(
        "reference",
        &[],
        "The simplest correct implementation of a family, written to be obviously correct, and never \
         changed. All others are verified against it. It is ranked too, to show what simplicity costs.",
    ),
    word(
        "budget",
        &[],
        "The time that a command may take: --budget 60s. Verification comes first; the rest is shared \
         among the replicates, and in each of them among the situations by weight. A larger budget means \
         more rounds and replicates, and narrower intervals. A warning names situations without a round, and another a run that \
         took much longer. --plan \
         shows what would be measured, without measuring.",
    ),
    word(
        "plugin",
        &["plug-in", "plugins"],
        "A routine of your own in a shared object, named by --plugin [NAME=]FILE.so:SYMBOL:FAMILY. It has the plain C signature \
         of its family (or, with 'fill' for the family, that of memset), is loaded in the worker processes only, and is \
         verified and measured like every other variant. A crash or a hang becomes a row with the reason.",
    ),
    word(
        "interposer",
        &["LD_PRELOAD", "CARRYLINE_PRELOAD", "libcarryline-preload.so"],
        "A shared library that provides memcpy, memmove, memset and related functions to an unmodified program: \
         LD_PRELOAD=libcarryline-preload.so PROGRAM. CARRYLINE_PRELOAD=zero leaves copying to the C library, \
         CARRYLINE_FORCE_ZERO=movntps and CARRYLINE_FORCE_COPY=rep_movsb choose variants. Calls inside the C library, \
         calls that a compiler has inlined and static programs are not reached. 'carryline real' \
         compares a program with and without it.",
    ),
    word(
        "dispatch",
        &["CARRYLINE_FORCE"],
        "The choice of a kernel by the library: once, the first one of an ordered list whose features the CPU has and the \
         operating system enables. The order follows measurements. CARRYLINE_FORCE=NAME chooses another \
         in this command, which rejects an unknown name; a program that links the library reads no \
         variable unless its author turns on the crate feature 'environment'.",
    ),
    word(
        "CARRYLINE_MASK",
        &["mask"],
        "An environment variable that hides CPU features: CARRYLINE_MASK=avx512f,avx2. Features that \
         depend on a hidden one are hidden too. It allows the path of a weaker CPU to be tested and \
         measured on a stronger one; no feature can be added.",
    ),
    word(
        "profile",
        &["CARRYLINE_TUNING", "tuning"],
        "The decisions of the library that depend on the CPU model: from which sizes it uses string \
         instructions and non-temporal stores, which cache sizes it assumes, which kernels it \
         prefers. Profiles of measured CPUs are built in; 'carryline machine' says which one is in force. \
         CARRYLINE_TUNING=FILE makes the library use another, CARRYLINE_TUNING=builtin:unmeasured the \
         defaults for CPUs that nobody measured.",
    ),
];
