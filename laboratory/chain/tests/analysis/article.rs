//! The routines of the article and their chains, through `sum` and through the data.

use crate::support::{analyse, article, path};
use carryline_chain::{Scope, Signature};

/// Through `sum` and through the address of the data, on a CPU with additions of one cycle and loads of five.
#[test]
fn the_chains_of_the_article_have_the_lengths_counted_by_hand() {
    for (name, code, sum, data) in [
        // Six additions, then mov (renamed), shr, add, adc.
        ("dead_code", article::dead_code(), Some(9.0), 5.0 + 9.0),
        // add, adc, adc, then the fold; the first stream is mov, add, adc, adc, adc before its adc.
        ("two_streams", article::two_streams(), Some(3.0 + 3.0), 5.0 + 4.0 + 2.0 + 3.0),
        ("adx", article::adx(), Some(3.0 + 3.0), 5.0 + 4.0 + 2.0 + 3.0),
        // add and four adc; the first small chain is add, adc, adc, then four adc.
        ("train32", article::train32(), Some(5.0), 5.0 + 3.0 + 4.0),
        ("zero_sum", article::zero_sum(), None, 5.0 + 3.0 + 2.0 + 3.0),
    ] {
        let found = analyse(code, "skylake_x", &Signature::checksum());
        assert_eq!(found.scope, Scope::Straight, "{name}");
        assert_eq!(path(&found, "sum"), sum, "{name} through sum");
        assert_eq!(path(&found, "data"), Some(data), "{name} through data");
        assert_eq!(path(&found, "len"), None, "{name} through len");
        assert_eq!(found.binding(), "latency", "{name}");
    }
}

#[test]
fn the_serial_chain_lists_its_instructions() {
    let found = analyse(article::dead_code(), "skylake_x", &Signature::checksum());
    let path = found.input("sum").expect("there is a sum");
    let text: Vec<String> = path
        .steps
        .iter()
        .map(|step| carryline_chain::text::instruction(&found.function.instructions[step.instruction]))
        .collect();
    assert_eq!(
        text,
        [
            "add rdx, [rdi]",
            "adc rdx, [rdi+8]",
            "adc rdx, [rdi+0x10]",
            "adc rdx, [rdi+0x18]",
            "adc rdx, [rdi+0x20]",
            "adc rdx, 0",
            "mov rax, rdx",
            "shr rax, 0x20",
            "add eax, edx",
            "adc eax, 0"
        ]
    );
    assert_eq!(path.output.as_deref(), Some("rax"));
}

/// On Haswell `adc` takes two cycles, but only one with an immediate of zero.
#[test]
fn a_cpu_with_a_slower_adc_has_a_longer_chain() {
    let found = analyse(article::dead_code(), "haswell", &Signature::checksum());
    assert_eq!(path(&found, "sum"), Some(1.0 + 4.0 * 2.0 + 1.0 + 3.0));
}
