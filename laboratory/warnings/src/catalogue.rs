//! Every warning: what was seen, what to do, what it means.

use super::{Code, Entry};

/// All warnings, in the order of their codes.
pub(super) const CATALOGUE: &[Entry] = &[
    Entry {
        id: Code::VirtualMachine,
        code: "W01",
        name: "virtual machine",
        cause: "this is a virtual machine ({}): its neighbours and its real clock cannot be seen",
        remedy: "trust ratios within one run more than absolute figures, or measure on a machine of your own",
        explanation: "A hypervisor shares caches, memory bandwidth and the core clock among guests, and tells none \
            of them. Variants of one comparison run interleaved, so that a disturbance hits all of them, and their \
            ratios survive; the absolute figures of two runs may still differ by more than their intervals say.",
    },
    Entry {
        id: Code::NoFixedFrequency,
        code: "W02",
        name: "no fixed frequency",
        cause: "the core clock is not known to be fixed ({})",
        remedy: "set the governor to performance and turn turbo off, or read the cycles rather than the ticks",
        explanation: "The time-stamp counter ticks evenly while the core speeds up and slows down with load, heat \
            and wide vectors. A figure in ticks then depends on the clock of that moment. The ratio of ticks to core \
            cycles is measured beside the samples, and cycle figures are corrected by it.",
    },
    Entry {
        id: Code::ClockDrift,
        code: "W03",
        name: "clock drift",
        cause: "ticks per core cycle drifted by {} during the run",
        remedy: "let the machine cool and settle, stop other programs, and run again",
        explanation: "A chain of dependent additions takes one core cycle each, so timing it between the rounds \
            shows the core clock in ticks. When that changes within a run, early and late rounds ran at different \
            speeds. Paired ratios are hardly touched; medians in ticks or cycles are blurred by about the drift.",
    },
    Entry {
        id: Code::WideInterval,
        code: "W04",
        name: "wide interval",
        cause: "{}: the 95 % interval is {} wide, relative to the median",
        remedy: "give it a larger --budget, or a quieter machine",
        explanation: "The interval comes from resampling whole worker processes, because samples of one process \
            share its memory layout and are not independent. A wide one says that processes disagreed: placement \
            of code or data matters for this variant, or something disturbed some of them.",
    },
    Entry {
        id: Code::FewRounds,
        code: "W05",
        name: "too few rounds",
        cause: "{}: only {} rounds were possible",
        remedy: "give it a larger --budget, or fewer variants or sizes",
        explanation: "A median over a handful of rounds has an interval in name only. The budget is shared among all \
            cells; large buffers and cold caches take most of it.",
    },
    Entry {
        id: Code::DoublingDisagrees,
        code: "W06",
        name: "N against 2N",
        cause: "{}: twice the calls do not take twice the time ({} apart)",
        remedy: "take the figure as an upper bound, and look at a larger batch or at another size",
        explanation: "Each cell is also timed with batches twice as long. If the net time per call differs, part of \
            what was measured belongs to the batch and not to the call: a cold first call, a predictor still \
            learning, a buffer that falls out of a cache in the longer batch.",
    },
    Entry {
        id: Code::ContextSwitches,
        code: "W07",
        name: "context switches",
        cause: "the measuring thread was interrupted for another one {} times while it was timed",
        remedy: "stop other programs, or leave a core to the measurement",
        explanation: "An involuntary context switch empties part of the caches and stretches the batch that it falls \
            into. Medians bear a few of them; many move the whole distribution.",
    },
    Entry {
        id: Code::StolenTime,
        code: "W08",
        name: "stolen time",
        cause: "the hypervisor took away {} of the machine's time during the run",
        remedy: "run again when the host is quieter",
        explanation: "Steal is the time in which this machine had work and the host ran somebody else. It shows in \
            /proc/stat, where the host reports it. The counter goes on ticking meanwhile, so it lengthens batches.",
    },
    Entry {
        id: Code::CannotPin,
        code: "W09",
        name: "cannot pin",
        cause: "workers could not be tied to a CPU: {}",
        remedy: "allow sched_setaffinity in the container or sandbox",
        explanation: "A thread that moves between cores leaves its caches and its branch history behind, and cores \
            may differ in speed. The run goes on; hot figures are less steady.",
    },
    Entry {
        id: Code::OneCpu,
        code: "W10",
        name: "one CPU only",
        cause: "only one CPU may be used: the watching process shares it with the measurement",
        remedy: "allow a second CPU",
        explanation: "The process that starts and watches the workers wakes now and then. On a CPU of its own that \
            disturbs nothing; on the only CPU it interrupts what is being timed.",
    },
    Entry {
        id: Code::NoHugePages,
        code: "W11",
        name: "no huge pages",
        cause: "huge pages were asked for and {} of the buffer got them",
        remedy: "set /sys/kernel/mm/transparent_hugepage/enabled to madvise, and free some memory",
        explanation: "Huge pages are a request: the kernel needs a free, aligned stretch of 2 MiB. The result is \
            labelled with what was given. Large buffers on base pages pay for address translation as well.",
    },
    Entry {
        id: Code::NoCounters,
        code: "W12",
        name: "no hardware counters",
        cause: "core cycles are estimated: {}",
        remedy: "lower kernel.perf_event_paranoid to 2 or less, or enable the virtual PMU of the machine",
        explanation: "With a hardware counter, cycles are counted (basis 'pmu'). Without, ticks are divided by the \
            ticks per core cycle that a chain of dependent additions showed (basis 'est'), which is as good as long \
            as the clock stood still between the two measurements.",
    },
    Entry {
        id: Code::CoarseClock,
        code: "W13",
        name: "coarse clock",
        cause: "the time-stamp counter advances in steps of about {} ticks",
        remedy: "nothing needed: batches are made long enough; single calls cannot be timed",
        explanation: "Some machines derive the counter from a slower clock and multiply. A single reading is then \
            uncertain by a whole step, so that only batches of many steps, at least a microsecond, are timed.",
    },
    Entry {
        id: Code::HighNoiseFloor,
        code: "W14",
        name: "high noise floor",
        cause: "{}: a variant differs from itself by up to {}",
        remedy: "read differences below that as ties; a quieter machine or a larger --budget lowers it",
        explanation: "One variant runs under two names (A/A). Whatever difference those two show is noise, and no \
            other difference of that size means anything. Rankings print such neighbours as ties.",
    },
    Entry {
        id: Code::SmallBudget,
        code: "W15",
        name: "budget too small",
        cause: "the budget of {} does not suffice for everything: {}",
        remedy: "give it a larger --budget, or name fewer families, variants or sizes",
        explanation: "The time is shared among the replicates, and in each of them among the situations by weight. The \
            situations named here got no round at all; their rows say so.",
    },
    Entry {
        id: Code::BudgetOverrun,
        code: "W16",
        name: "budget overrun",
        cause: "it took {} for a budget of {}",
        remedy: "give it a larger --budget or less to measure",
        explanation: "Rounds are never cut in the middle and every promised cell gets its least number of rounds. On \
            a slow or busy machine that can take longer than was estimated.",
    },
    Entry {
        id: Code::FeaturesMasked,
        code: "W17",
        name: "features masked",
        cause: "CARRYLINE_MASK hides {} of this CPU",
        remedy: "unset CARRYLINE_MASK to measure what the CPU can do",
        explanation: "The variable takes features away so that the path of a weaker CPU can be run on a strong one. \
            Rankings and recommendations then hold for that weaker CPU, with this one's speed.",
    },
    Entry {
        id: Code::DebugBuild,
        code: "W18",
        name: "debug build",
        cause: "this is a debug build (profile {}, optimisation level {})",
        remedy: "build with cargo build --release",
        explanation: "Variants written in plain Rust or C depend on the optimiser, those in assembly or intrinsics \
            hardly. A debug build therefore does not only slow everything down: it changes the ranking.",
    },
    Entry {
        id: Code::PacketsSkipped,
        code: "W19",
        name: "packets skipped",
        cause: "{}: {} of {} packets were not used: {}",
        remedy: "none needed if those packets do not matter to you; 'carryline explain W19' tells what each reason means",
        explanation: "Only packets whose transport checksum covers a known length are counted. Fragments have no \
            checksum of their own; an IP length of 0 is left to the network card (segmentation offload); UDP may \
            go without a checksum; tunnels and encrypted payloads hide theirs; a short snap length cuts off \
            headers; contradictory lengths and damaged records cannot be believed.",
    },
    Entry {
        id: Code::WorkerLost,
        code: "W20",
        name: "worker lost",
        cause: "a worker process ended before its time ({}): {}",
        remedy: "look at the rows marked crashed, timed_out or not_verified, and run them alone with 'carryline verify'",
        explanation: "Variants run in processes of their own, so that one that crashes or hangs takes nothing else \
            with it. A worker that dies is started again; a variant is blamed if it dies again, and what it was called \
            with at that moment is in its row. Estimates of the other cells rest on the workers that remain.",
    },
    Entry {
        id: Code::NeverSteady,
        code: "W21",
        name: "never steady",
        cause: "{}: the times had not settled when the warm-up had to end",
        remedy: "give it a larger --budget, and look for other load or a throttling clock",
        explanation: "Warming up ends when recent rounds no longer differ from those before, and not after a fixed \
            time. A cell that never settles is measured all the same; its median then depends on when it was taken.",
    },
    Entry {
        id: Code::ColdMethodsDisagree,
        code: "W22",
        name: "cold is not cold",
        cause: "{}: {} and {} differ by {}",
        remedy: "choose the method that resembles your program: fresh lines of a large buffer (arena) often do",
        explanation: "A flushed line, a line pushed out by others and a line not touched for long are in different \
            states: translations, page tables and the prefetchers' history differ. None of them is the true cold; \
            how far apart they are says how much that matters.",
    },
    Entry {
        id: Code::LoadedMachine,
        code: "W23",
        name: "other load",
        cause: "the machine is at work already: load average {} on {} CPUs",
        remedy: "stop other programs, or wait",
        explanation: "Other programs share the last cache level, the memory bandwidth and perhaps the core. Hot small \
            cells bear that; large and cold ones do not.",
    },
    Entry {
        id: Code::CpuQuota,
        code: "W25",
        name: "CPU quota",
        cause: "the control group allows only {} CPUs' worth of time",
        remedy: "lift the limit (cpu.max, docker --cpus) while measuring",
        explanation: "When the allowance of a period is used up, the whole group is stopped until the next one. A \
            batch that is stopped takes milliseconds too long, and the caches are cold after it.",
    },
    Entry {
        id: Code::UnevenClock,
        code: "W27",
        name: "uneven clock",
        cause: "the time-stamp counter is not said to tick evenly on this CPU",
        remedy: "fix the core frequency, and compare only within one run",
        explanation: "On old CPUs the counter follows the core clock or stops when the core sleeps. Ticks are then \
            neither time nor cycles, though ratios within a round still hold.",
    },
    Entry {
        id: Code::TunablesSet,
        code: "W28",
        name: "tunables set",
        cause: "GLIBC_TUNABLES is set: {}",
        remedy: "unset it to see the C library as other users have it",
        explanation: "The variable changes thresholds of the C library in every process. The libc rows are with it, as \
            your programs are; in the rows whose names end in no_rep only the thresholds for rep movsb and rep stosb are \
            replaced.",
    },
];
