//! The suggested splits, and the bounds of the rewritten code.

use crate::support::{analyse_with, article, assemble_loop, carry_loop};
use carryline_chain::latencies::Latencies;
use carryline_chain::{Options, Signature, suggest, table};
use iced_x86::code_asm::*;

fn latencies() -> Latencies {
    Latencies::of_table(table::by_name("skylake_x").expect("a table"))
}

#[test]
fn the_serial_chain_is_split_as_in_the_article() {
    let latencies = latencies();
    let found = analyse_with(article::dead_code(), &latencies, &Signature::checksum());
    let suggested = suggest::for_call(&found, &Signature::checksum(), Options::new(&latencies));
    let [split] = &suggested[..] else { panic!("{suggested:?}") };
    assert_eq!(split.moved.len(), 4, "{split:?}");
    let of = |name: &str| {
        let change = split.bounds.iter().find(|change| change.name == name).expect("a bound");
        (change.before, change.after)
    };
    assert_eq!(of("sum"), (Some(9.0), Some(6.0)));
    assert_eq!(of("data"), (Some(14.0), Some(14.0)));
}

#[test]
fn code_that_is_split_or_has_no_sum_gets_no_suggestion() {
    let latencies = latencies();
    for code in [article::adx(), article::two_streams(), article::zero_sum()] {
        let found = analyse_with(code, &latencies, &Signature::checksum());
        let suggested = suggest::for_call(&found, &Signature::checksum(), Options::new(&latencies));
        assert!(suggested.is_empty(), "{suggested:?}");
    }
}

#[test]
fn a_loop_gets_a_second_accumulator() {
    let latencies = latencies();
    let code = carry_loop();
    let found = analyse_with(code, &latencies, &Signature::unknown());
    let suggested = suggest::for_loop(&found, &found.loops[0], Options::new(&latencies));
    let [split] = &suggested[..] else { panic!("{suggested:?}") };
    assert_eq!((split.bounds[0].before, split.bounds[0].after), (Some(9.0), Some(5.0)));
    let code = assemble_loop(|a| {
        a.vmovdqu64(zmm4, zmmword_ptr(rdi))?;
        a.vpdpwssd(zmm0, zmm4, zmm5)?;
        a.add(rdi, 64)?;
        a.sub(rsi, 64)
    });
    let found = analyse_with(code, &latencies, &Signature::unknown());
    let suggested = suggest::for_loop(&found, &found.loops[0], Options::new(&latencies));
    let [split] = &suggested[..] else { panic!("{suggested:?}") };
    assert_eq!((split.bounds[0].before, split.bounds[0].after), (Some(5.0), Some(2.5)));
}
