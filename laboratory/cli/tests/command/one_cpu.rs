//! On one CPU, what needs two cores says so, and everything else works.

use crate::support::Place;

#[test]
fn on_one_cpu_the_neighbour_is_a_reason_and_no_failure() {
    let cpus = carryline_machine::process::allowed_cpus();
    let one = *cpus.last().expect("at least the CPU that this runs on");
    // In a thread of its own: the command inherits its affinity, other tests do not.
    std::thread::spawn(move || {
        carryline_machine::process::pin(one).expect("an allowed CPU");
        let place = Place::new();
        let run = place.json(&["reproduce", "neighbour", "--quick", "--budget", "1s", "--no-save"]);
        let experiment = &run["experiments"][0];
        assert!(experiment["notes"].to_string().contains("two cores"), "{}", experiment["notes"]);
        for claim in experiment["claims"].as_array().expect("claims") {
            assert_eq!(claim["verdict"], "cannot be measured here", "{claim}");
            assert!(claim["why"].to_string().contains("two cores"), "{claim}");
        }
        let (_, err) = place.expect(&["measure", "--family", "zero", "--beside", "stream"], 2);
        assert!(err.contains("--beside stream") && err.contains("a second CPU"), "{err}");
    })
    .join()
    .expect("the thread's assertions hold");
}
