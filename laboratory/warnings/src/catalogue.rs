//! The catalogue of warnings: cause, remedy and explanation of each.

use super::{Code, Entry, Weight};

/// All warnings, in the order of their codes.
pub(super) const CATALOGUE: &[Entry] = &[
    Entry {
        id: Code::VirtualMachine,
        code: "W01",
        weight: Weight::Context,
        name: "virtual machine",
        cause: "this is a virtual machine ({}): other guests and the real clock are not visible",
        remedy: "trust ratios within one run more than absolute figures, or measure on a physical machine",
        explanation: "A hypervisor shares caches, memory bandwidth and the core clock among guests \
            without telling them. The variants of a comparison run interleaved, so a disturbance hits \
            all of them and their ratios remain valid; the absolute figures of two runs may still differ \
            by more than their intervals.",
    },
    Entry {
        id: Code::NoFixedFrequency,
        code: "W02",
        weight: Weight::Context,
        name: "no fixed frequency",
        cause: "the core clock is not known to be fixed ({})",
        remedy: "set the governor to performance and turn turbo off, or use cycles rather than ticks",
        explanation: "The time-stamp counter ticks evenly while the core speeds up and slows down with load, heat \
            and wide vectors. A figure in ticks then depends on the core clock at that time. The ratio of ticks to core \
            cycles is measured beside the samples, and cycle figures are corrected by it.",
    },
    Entry {
        id: Code::ClockDrift,
        code: "W03",
        weight: Weight::Run,
        name: "clock drift",
        cause: "ticks per core cycle drifted by {} during the run",
        remedy: "let the machine cool and settle, stop other programs, and run again",
        explanation: "A chain of dependent additions takes one core cycle each, so timing one between the rounds \
            shows the core clock in ticks. When that changes within a run, early and late rounds ran at different \
            speeds. Paired ratios are hardly affected; medians in ticks or cycles are blurred by about the drift.",
    },
    Entry {
        id: Code::WideInterval,
        code: "W04",
        weight: Weight::Cell,
        name: "wide interval",
        cause: "{}: the width of the 95 % interval is {} of the median",
        remedy: "use a larger --budget, or a quieter machine",
        explanation: "The interval comes from resampling whole worker processes, because samples of one process \
            share its memory layout and are not independent. A wide interval means that processes \
            disagree: the placement of code or data matters for this variant, or some processes were \
            disturbed.",
    },
    Entry {
        id: Code::FewRounds,
        code: "W05",
        weight: Weight::Cell,
        name: "too few rounds",
        cause: "{}: there was time for only {}",
        remedy: "use a larger --budget, or fewer variants or sizes",
        explanation: "A median over a handful of rounds has no meaningful interval. The budget is shared among all \
            cells; large buffers and cold caches take most of it.",
    },
    Entry {
        id: Code::DoublingDisagrees,
        code: "W06",
        weight: Weight::Cell,
        name: "N against 2N",
        cause: "{}: twice the calls do not take twice the time (off by {})",
        remedy: "take the figure as an upper bound, and try a larger batch or another size",
        explanation: "Each cell is also timed with batches twice as long. If the net time per call differs, part of \
            what was measured belongs to the batch and not to the call: a cold first call, a predictor still \
            learning, a buffer that no longer fits into a cache in the longer batch.",
    },
    Entry {
        id: Code::ContextSwitches,
        code: "W07",
        weight: Weight::Run,
        name: "context switches",
        cause: "the measuring thread was preempted {} times while being timed",
        remedy: "stop other programs, or leave a core to the measurement",
        explanation: "An involuntary context switch evicts part of the caches and lengthens the batch \
            that it interrupts. Medians tolerate a few of them; many shift the whole distribution.",
    },
    Entry {
        id: Code::StolenTime,
        code: "W08",
        weight: Weight::Run,
        name: "stolen time",
        cause: "the hypervisor stole {} of the machine's time during the run",
        remedy: "run again when the host is quieter",
        explanation: "Steal is the time in which this machine had work and the host ran another guest. \
            /proc/stat shows it if the host reports it. The counter keeps ticking meanwhile, so steal \
            lengthens batches.",
    },
    Entry {
        id: Code::CannotPin,
        code: "W09",
        weight: Weight::Run,
        name: "cannot pin",
        cause: "workers could not be pinned to a CPU: {}",
        remedy: "allow sched_setaffinity in the container or sandbox",
        explanation: "A thread that moves between cores loses its caches and branch history, and cores \
            may differ in speed. The run continues; hot figures are less stable.",
    },
    Entry {
        id: Code::OneCpu,
        code: "W10",
        weight: Weight::Run,
        name: "one CPU only",
        cause: "only one CPU is available: the supervising process shares it with the measurement",
        remedy: "allow a second CPU",
        explanation: "The process that starts and supervises the workers wakes occasionally. On another \
            CPU that disturbs nothing; on the only CPU it interrupts what is being timed.",
    },
    Entry {
        id: Code::NoHugePages,
        code: "W11",
        weight: Weight::Run,
        name: "no huge pages",
        cause: "huge pages were requested, but only {} of the buffer got them",
        remedy: "set /sys/kernel/mm/transparent_hugepage/enabled to madvise, and free some memory",
        explanation: "Huge pages are a request: the kernel needs a free, aligned stretch of 2 MiB. The \
            result is labelled with what was granted. Large buffers on base pages also pay for address \
            translation.",
    },
    Entry {
        id: Code::NoCounters,
        code: "W12",
        weight: Weight::Context,
        name: "no hardware counters",
        cause: "core cycles are estimated: {}",
        remedy: "lower kernel.perf_event_paranoid to 2 or less, or enable the virtual PMU of the machine",
        explanation: "With a hardware counter, cycles are counted (basis 'pmu'). Without one, ticks are \
            divided by the ticks per core cycle of a chain of dependent additions (basis 'est'), which \
            is as good as long as the clock did not change between the two measurements.",
    },
    Entry {
        id: Code::CoarseClock,
        code: "W13",
        weight: Weight::Context,
        name: "coarse clock",
        cause: "the time-stamp counter advances in steps of about {} ticks",
        remedy: "none needed: batches are long enough; single calls cannot be timed",
        explanation: "Some machines derive the counter from a slower clock and multiply. A single reading is then \
            uncertain by a whole step, so that only batches of many steps, at least a microsecond, are timed.",
    },
    Entry {
        id: Code::HighNoiseFloor,
        code: "W14",
        weight: Weight::Cell,
        name: "high noise floor",
        cause: "{}: a variant differs from itself by up to {}",
        remedy: "treat smaller differences as ties; a quieter machine or a larger --budget lowers it",
        explanation: "One variant runs under two names (A/A). Any difference between the two is noise, \
            and no other difference of that size is significant. Rankings print such neighbours as ties.",
    },
    Entry {
        id: Code::SmallBudget,
        code: "W15",
        weight: Weight::Grave,
        name: "budget too small",
        cause: "the budget of {} is too small for everything: {}",
        remedy: "use a larger --budget, or name fewer families, variants or sizes",
        explanation: "The time is shared among the replicates, and in each of them among the situations by weight. The \
            situations named here got no round at all; their rows say so.",
    },
    Entry {
        id: Code::BudgetOverrun,
        code: "W16",
        weight: Weight::Context,
        name: "budget overrun",
        cause: "the run took {} for a budget of {}",
        remedy: "use a larger --budget, or measure less",
        explanation: "Rounds are never interrupted, and every planned cell gets its minimum number of \
            rounds. On a slow or busy machine that can take longer than estimated.",
    },
    Entry {
        id: Code::FeaturesMasked,
        code: "W17",
        weight: Weight::Run,
        name: "features masked",
        cause: "CARRYLINE_MASK hides {} of this CPU",
        remedy: "unset CARRYLINE_MASK to measure what the CPU can do",
        explanation: "The variable hides features so that the path of a weaker CPU can run on a stronger \
            one. Rankings and recommendations then apply to that weaker CPU, at this one's speed.",
    },
    Entry {
        id: Code::DebugBuild,
        code: "W18",
        weight: Weight::Grave,
        name: "debug build",
        cause: "this is a debug build (profile {}, optimisation level {})",
        remedy: "build with cargo build --release",
        explanation: "Variants written in plain Rust or C depend on the optimiser, those in assembly or \
            intrinsics hardly do. So a debug build not only slows everything down, it changes the \
            ranking.",
    },
    Entry {
        id: Code::PacketsSkipped,
        code: "W19",
        weight: Weight::Context,
        name: "packets skipped",
        cause: "{}: {} of {} packets were not used: {}",
        remedy: "none needed if those packets do not matter to you; 'carryline explain W19' explains the reasons",
        explanation: "Only packets whose transport checksum covers a known length are counted. Fragments have no \
            checksum of their own; an IP length of 0 is left to the network card (segmentation offload); UDP \
            may omit the checksum; tunnels and encrypted payloads hide theirs; a short snap length cuts \
            off headers; records with contradictory lengths or damage are not usable.",
    },
    Entry {
        id: Code::WorkerLost,
        code: "W20",
        weight: Weight::Run,
        name: "worker lost",
        cause: "a worker process ended early ({}): {}",
        remedy: "look at the rows marked crashed, timed out or not verified, and run them alone with 'carryline verify'",
        explanation: "Variants run in worker processes, so that one that crashes or hangs affects \
            nothing else. A worker that dies is started again; a variant is blamed if it dies again, and the \
            arguments of that call are in its row. The estimates of the other cells use the remaining workers.",
    },
    Entry {
        id: Code::NeverSteady,
        code: "W21",
        weight: Weight::Cell,
        name: "never steady",
        cause: "{}: the times had not settled when the warm-up had to end",
        remedy: "use a larger --budget, and look for other load or a throttling clock",
        explanation: "Warm-up ends when recent rounds no longer differ from earlier ones, not after a \
            fixed time. A cell that never settles is measured anyway; its median then depends on when it \
            was taken.",
    },
    Entry {
        id: Code::ColdMethodsDisagree,
        code: "W22",
        weight: Weight::Context,
        name: "cold is not cold",
        cause: "{}: {} and {} differ by {}",
        remedy: "choose the method that resembles your program: fresh lines of a large buffer (arena) often do",
        explanation: "A flushed line, an evicted line and a line that was not accessed for long are in \
            different states: translations, page tables and prefetcher history differ. There is no \
            single cold state; the spread shows how much the difference matters.",
    },
    Entry {
        id: Code::LoadedMachine,
        code: "W23",
        weight: Weight::Run,
        name: "other load",
        cause: "the machine is already busy: load average {} on {} CPUs",
        remedy: "stop other programs, or wait",
        explanation: "Other programs share the last cache level, the memory bandwidth and perhaps the core. Small \
            hot cells tolerate that; large and cold ones do not. The load average covers the last minute, in which \
            this program's own earlier commands may have run, so it counts only if CPUs are busy while this program \
            sleeps.",
    },
    Entry {
        id: Code::CpuQuota,
        code: "W25",
        weight: Weight::Run,
        name: "CPU quota",
        cause: "the control group allows only {} CPUs' worth of time",
        remedy: "lift the limit (cpu.max, docker --cpus) while measuring",
        explanation: "When the quota of a period is used up, the whole group is stopped until the next \
            one. An interrupted batch takes milliseconds too long, and the caches are cold after it.",
    },
    Entry {
        id: Code::UnevenClock,
        code: "W27",
        weight: Weight::Run,
        name: "uneven clock",
        cause: "the CPU does not report an invariant time-stamp counter",
        remedy: "fix the core frequency, and compare only within one run",
        explanation: "On old CPUs the counter follows the core clock or stops when the core sleeps. Ticks \
            are then neither time nor cycles, though ratios within a round remain valid.",
    },
    Entry {
        id: Code::TunablesSet,
        code: "W28",
        weight: Weight::Context,
        name: "tunables set",
        cause: "GLIBC_TUNABLES is set: {}",
        remedy: "unset it to measure the C library as other users have it",
        explanation: "The variable changes thresholds of the C library in every process. The libc rows \
            run with it, as your programs do; in the rows whose names end in no_rep only the thresholds \
            for rep movsb and rep stosb are replaced.",
    },
    Entry {
        id: Code::SharedCore,
        code: "W29",
        weight: Weight::Run,
        name: "shared core",
        cause: "another hardware thread of the core ran in {} of the rounds: there, the core executed {} of the \
            independent additions that it can",
        remedy: "trust ratios more than times, and repeat the run in other hours; on your own host, leave the other \
            thread idle",
        explanation: "Independent additions are timed beside the dependent ones that measure the core clock. If \
            only the independent ones slow down, the core serves another hardware thread too: in a virtual machine \
            mostly one of another guest. The threads divide the queues and the fetching of instructions, so \
            routines with many jumps lose more than others. A core that is shared all the time looks like a \
            slower one, without this warning.",
    },
    Entry {
        id: Code::ThresholdsNotRaised,
        code: "W30",
        weight: Weight::Cell,
        name: "thresholds not raised",
        cause: "{}: {} takes {} times as long as {}, though neither should use a string instruction at such sizes",
        remedy: "do not believe the rows whose names end in no_rep, and report this with the version of the C library",
        explanation: "Below the C library's thresholds for rep movsb and rep stosb, its rows as installed and with \
            raised thresholds execute the same instructions, so their times agree. If they do not, the library uses \
            another value than the one set: glibc 2.39 keeps only the lower 32 bits of the one for rep movsb.",
    },
    Entry {
        id: Code::Interrupted,
        code: "W31",
        weight: Weight::Grave,
        name: "interrupted",
        cause: "the run was interrupted or killed: these are partial results{}",
        remedy: "run it again; 'carryline rerun' repeats a stored run",
        explanation: "The finished rounds are kept and shown, but no advice is derived from them: rows may \
            have few rounds, and situations that had none are left out.",
    },
    Entry {
        id: Code::PartOfLastLevel,
        code: "W32",
        weight: Weight::Context,
        name: "part of the last level",
        cause: "the last cache level holds about {} of this machine's data, not the {} that are reported",
        remedy: "none needed: buffers that exceed this count as being in memory",
        explanation: "A virtual machine is told the size of the whole last level, which it shares with other guests or \
            has a part of. Before cells larger than four times the second level are measured, buffers of growing size are \
            read: those that take over a third longer per byte than the smallest are in memory. Conditions that must miss \
            every cache still go by the size that is reported.",
    },
];
