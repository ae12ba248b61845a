//! Drawings show what the article's figures show.

use crate::support::{analyse, article, assemble, assemble_loop};
use carryline_chain::draw::{self, Picture};
use carryline_chain::{Signature, analysis::Analysis};
use iced_x86::code_asm::*;

const FOLDED: draw::View<'_> = draw::View { full: false, hot: draw::Hot::Chain };

fn picture(code: Vec<u8>) -> (Analysis, Picture) {
    let found = analyse(code, "skylake_x", &Signature::checksum());
    let picture = draw::of_analysis(&found, "a routine", Some("sum"), FOLDED);
    (found, picture)
}

#[test]
fn the_serial_chain_is_the_critical_chain() {
    let (_, picture) = picture(article::dead_code());
    let critical: Vec<&str> =
        picture.nodes.iter().filter(|node| node.is_critical).map(|node| node.text.as_str()).collect();
    assert_eq!(critical.len(), 12, "ten instructions, the sum and the result: {critical:?}");
    assert_eq!(picture.left_out, 1, "the return");
    assert_eq!(picture.groups, ["chain", "fold"]);
    // Parallel edges are one arrow with both labels.
    let both = picture.arrows.iter().filter(|arrow| arrow.labels == ["rdx", "CF"]);
    assert_eq!(both.count(), 5);
}

#[test]
fn two_streams_are_two_groups() {
    for (code, flags) in [(article::two_streams(), ["CF", "CF"]), (article::adx(), ["CF", "OF"])] {
        let (_, picture) = picture(code);
        assert_eq!(picture.groups.len(), 3, "{:?}", picture.groups);
        for flag in flags {
            assert!(picture.arrows.iter().any(|arrow| arrow.labels.iter().any(|label| label == flag)));
        }
    }
    let (_, train) = picture(article::train32());
    assert_eq!(train.groups.len(), 4, "{:?}", train.groups);
}

#[test]
fn dot_and_svg_hold_every_box_and_arrow() {
    let (_, picture) = picture(article::train32());
    let dot = draw::to_dot(&picture);
    assert_eq!(dot.matches(" -> ").count(), picture.arrows.len());
    assert!(dot.starts_with("digraph") && dot.contains("penwidth"));
    let svg = draw::to_svg(&picture);
    assert_eq!(svg.matches("<path class=\"arrow").count(), picture.arrows.len());
    for node in &picture.nodes {
        assert!(svg.contains(&format!(">{}</text>", node.text)), "{}", node.text);
    }
    assert!(svg.contains("prefers-color-scheme: dark"));
}

#[test]
fn boxes_do_not_overlap() {
    for code in [article::dead_code(), article::two_streams(), article::adx(), article::train32(), wide()] {
        let (_, picture) = picture(code);
        let layout = draw::layout::lay_out(&picture);
        for (index, one) in layout.nodes.iter().enumerate() {
            for (other, another) in layout.nodes.iter().enumerate().skip(index + 1) {
                let names = (&picture.nodes[index].text, &picture.nodes[other].text);
                assert!(!one.overlaps(another), "{names:?}: {one:?} {another:?}");
            }
        }
    }
}

/// Four chains of thirty instructions each.
fn wide() -> Vec<u8> {
    assemble(|a| {
        for (sum, from) in [(r8, 0), (r9, 8), (r10, 16), (r11, 24)] {
            a.mov(sum, qword_ptr(rdi + from))?;
            for step in 1..29 {
                a.add(sum, qword_ptr(rdi + from + 32 * step))?;
                a.adc(sum, 0)?;
            }
        }
        a.add(r8, r9)?;
        a.add(r10, r11)?;
        a.lea(rax, ptr(r8 + r10))?;
        a.ret()
    })
}

#[test]
fn a_loop_shows_its_carried_chain() {
    let code = assemble_loop(|a| {
        a.add(rax, qword_ptr(rdi))?;
        a.adc(rax, qword_ptr(rdi + 8))?;
        a.adc(rax, 0)?;
        a.add(rdi, 16)?;
        a.dec(rsi)
    });
    let found = analyse(code, "skylake_x", &Signature::unknown());
    let picture = draw::of_loop(&found, &found.loops[0], "a loop", draw::Hot::Chain);
    let carried: Vec<_> = picture.arrows.iter().filter(|arrow| arrow.is_carried).collect();
    assert!(carried.iter().any(|arrow| arrow.is_critical && arrow.labels == ["rax"]), "{carried:?}");
    assert_eq!(picture.nodes.iter().filter(|node| node.is_critical).count(), 3);
}

#[test]
fn a_wide_picture_is_reduced_to_the_chain_and_its_inputs() {
    // Twelve loads are added in pairs, and their sum to the argument.
    let code = assemble(|a| {
        let words = [r8, r9, r10, r11, r12, r13, r14, r15, rbx, rbp, rcx, rsi];
        for (place, word) in (0_i32..).zip(words) {
            a.movzx(word, word_ptr(rdi + 0x1000 + 2 * place))?;
        }
        for pair in words.chunks(2) {
            a.add(pair[0], pair[1])?;
        }
        for pair in [r8, r10, r12, r14, rbx, rcx].chunks(2) {
            a.add(pair[0], pair[1])?;
        }
        a.add(r8, r12)?;
        a.add(r8, rbx)?;
        a.mov(eax, edx)?;
        a.add(rax, r8)?;
        a.ret()
    });
    let (found, narrow) = picture(code);
    assert!(narrow.beside > 12, "{}", narrow.beside);
    assert!(draw::layout::lay_out(&narrow).width <= draw::svg::LARGEST);
    assert!(narrow.nodes.iter().any(|node| node.text.starts_with("add rax, r8") && node.is_critical));
    assert!(draw::to_svg(&narrow).contains("outside the critical chain are left out"));
    let view = draw::View { full: true, ..FOLDED };
    let whole = draw::of_analysis(&found, "a routine", Some("sum"), view);
    assert_eq!(whole.beside, 0);
    assert!(whole.nodes.len() > narrow.nodes.len() + 12);
}

/// Writes the drawings to the folder in `CARRYLINE_DRAWINGS`, for inspection.
#[test]
fn drawings_can_be_written_out() {
    let Some(folder) = std::env::var_os("CARRYLINE_DRAWINGS") else { return };
    for (name, code) in [
        ("dead_code", article::dead_code()),
        ("two_streams", article::two_streams()),
        ("adx", article::adx()),
        ("train32", article::train32()),
        ("zero_sum", article::zero_sum()),
        ("wide", wide()),
    ] {
        let (_, picture) = picture(code);
        let path = std::path::Path::new(&folder).join(format!("{name}.svg"));
        std::fs::write(path, draw::to_svg(&picture)).expect("a writable folder");
    }
}
