//! Every warning has its texts, and an environment its warnings.

use super::*;
use carryline_conditions::capture::Skip;

#[test]
fn codes_number_the_catalogue() {
    // Ascending with gaps: the code of a removed warning is not reused.
    assert!(Code::all().is_sorted_by(|one, next| one.code < next.code));
    for (index, entry) in Code::all().iter().enumerate() {
        let number = entry.code.strip_prefix('W').unwrap_or_default();
        assert!(number.len() == 2 && number.parse::<u8>().is_ok(), "{}", entry.code);
        assert_eq!(entry.id as usize, index, "{}", entry.code);
        assert_eq!(entry.id.entry().code, entry.code);
        assert_eq!(Code::find(&entry.code.to_lowercase()).map(|found| found.id), Some(entry.id));
        assert_eq!(Code::find(entry.name).map(|found| found.id), Some(entry.id));
        for text in [entry.name, entry.cause, entry.remedy, entry.explanation] {
            assert!(!text.is_empty() && !text.contains("  "), "{}: {text}", entry.code);
        }
    }
    assert!(Code::find("W00").is_none() && Code::find("").is_none());
}

#[test]
fn every_warning_fills_all_its_placeholders() {
    let skipped = SkippedPackets {
        file: "x.pcap".to_owned(),
        packets_used: 5,
        by_reason: vec![(Skip::NotIp, 2), (Skip::Fragment, 1)],
    };
    let second = Duration::from_secs(1);
    let given = [
        virtual_machine("KVM"),
        no_fixed_frequency(&"not visible"),
        clock_drift(0.031),
        wide_interval(&"copy/avx2", 0.5),
        few_rounds(&"copy/avx2", 3),
        doubling_disagrees(&"copy/avx2", 0.2),
        context_switches(12),
        stolen_time(0.01),
        cannot_pin("forbidden"),
        one_cpu(),
        no_huge_pages(0.0),
        no_counters("forbidden"),
        coarse_clock(26),
        high_noise_floor(&"8 MiB", 0.07),
        small_budget(second, "copy"),
        budget_overrun(2 * second, second),
        features_masked(&["avx2".to_owned(), "avx512f".to_owned()]),
        debug_build("debug", "0"),
        packets_skipped(&skipped),
        worker_lost("signal 11", "copy/avx2"),
        never_steady(&"copy/avx2"),
        cold_methods_disagree(&"copy/avx2", "clflush", "arena", 0.4),
        loaded_machine(3.5, 2),
        cpu_quota(0.5),
        uneven_clock(),
        tunables_set("glibc.malloc.check=1"),
        shared_core(0.4, 0.7),
        thresholds_not_raised("copy 160", "libc_memcpy_no_rep", 4.7, "libc_memcpy"),
        interrupted(3),
        part_of_last_level(73 << 20, 480 << 20),
    ];
    assert_eq!(given.len(), Code::all().len());
    for (warning, entry) in given.iter().zip(Code::all()) {
        assert_eq!(warning.code, entry.code);
        assert!(!warning.cause.contains(['{', '}', '?']), "{}", warning.cause);
    }
    assert_eq!(given[2].cause, "ticks per core cycle drifted by 3.1 % during the run");
    assert_eq!(given[18].cause, "x.pcap: 3 of 8 packets were not used: 2 not IP, 1 fragment");
    assert_eq!(given[15].cause, "the run took 2.0 s for a budget of 1.0 s");
}

#[test]
fn an_environment_gives_its_warnings() {
    let mut here = Environment::here();
    here.cpu.hypervisor = Some("KVM".to_owned());
    here.cpu.masked_features = vec!["avx2".to_owned()];
    here.cpu.allowed_cpus = vec![0];
    here.cpu.logical_cpus = 2;
    (here.system.load_average, here.system.busy_cpus) = (Some(7.0), Some(1.5));
    here.build.debug_assertions = true;
    let codes: Vec<String> = of_environment(&here).into_iter().map(|warning| warning.code).collect();
    for code in ["W01", "W10", "W17", "W18", "W23"] {
        assert!(codes.iter().any(|given| given == code), "{code} in {codes:?}");
    }
    // A command of this program that has ended is still in the average.
    here.system.busy_cpus = Some(0.05);
    assert!(of_environment(&here).iter().all(|warning| warning.code != "W23"));
    here.system.load_average = Some(0.9);
    assert!(of_environment(&here).iter().all(|warning| warning.code != "W23"));
}
