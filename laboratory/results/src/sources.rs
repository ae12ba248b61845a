//! The documents that claims, variants and methods come from: one list, which everything that names a document refers to.
//!
//! ```
//! use carryline_results::sources;
//! assert_eq!(sources::find("evans-2003"), Some(&sources::EVANS_2003));
//! assert!(sources::EVANS_2003.citation().starts_with("Bruce Evans, 2003"));
//! ```

use serde::Serialize;

/// A document.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// What claims and listings call it: an author and the year, `evans-2003`.
    pub id: &'static str,
    /// Its authors, separated by commas.
    pub authors: &'static str,
    /// When it was published.
    pub year: u16,
    /// Its title, or the subject of a message.
    pub title: &'static str,
    /// Where it was published.
    pub venue: &'static str,
    /// Where it can be found.
    pub found: &'static str,
    /// What it measured or says, on which machine.
    pub about: &'static str,
    /// What became of it.
    pub since: &'static str,
}

impl Source {
    /// Author, year, title, where it was published and where it can be found, on one line.
    #[must_use]
    pub fn citation(&self) -> String {
        let Source { authors, year, title, venue, found, .. } = self;
        format!("{authors}, {year}, \"{title}\", {venue}. {found}.")
    }
}

/// The documents, and the list of all.
macro_rules! sources {
    ($($(#[$doc:meta])* $name:ident = $source:expr;)*) => {
        $($(#[$doc])* pub static $name: Source = $source;)*

        /// All documents, in the order of their years.
        pub static SOURCES: &[&Source] = &[$(&$name),*];
    };
}

sources! {
    /// The definition of the sum.
    BRADEN_1988 = Source {
        id: "braden-1988",
        authors: "Robert Braden, David Borman, Craig Partridge",
        year: 1988,
        title: "Computing the Internet Checksum",
        venue: "RFC 1071, September 1988",
        found: "https://www.rfc-editor.org/rfc/rfc1071",
        about: "Defines the checksum, shows that its sum may be taken in any byte order, in any grouping and with carries \
                deferred, and gives implementations for the Motorola 68020, the Cray and the IBM 370.",
        since: "Still the definition. What it says about deferred carries is the basis of every kernel with wide registers: \
                sixteen or more partial sums, folded once at the end. RFC 1624 corrected its formula for incremental updates \
                in 1994, because it could turn a zero sum into the other zero.",
    };
    /// Chains of buffers on a Pentium.
    HANNUM_1996 = Source {
        id: "hannum-1996",
        authors: "Charles M. Hannum",
        year: 1996,
        title: "Re: tuning IP checksumming code...",
        venue: "NetBSD mailing list port-i386, 18 July 1996",
        found: "Archive of port-i386, July 1996, by its subject",
        about: "Five implementations of in_cksum for chains of mbufs, over nine chains at random alignments, on a Pentium; \
                quotes an earlier comparison by Thorsten Lockert. The times have no unit.",
        since: "The rewritten version went into NetBSD's i386 port as cpu_in_cksum.S and is still there. Touching a line before it \
                is needed paid because a Pentium stalled at each miss; cores that execute out of order have many misses under way and \
                prefetch by themselves, so the extra load is now only work. The C version was ten times slower because \
                its compiler added words of 16 bits one by one; today's cores load and add several such words a cycle, and even without \
                vectors it overtakes a single chain of add-with-carry, whose one addition a cycle no clock has changed. Odd addresses stopped mattering in \
                hardware. The question that outlived the answers is the cost for each buffer of a chain.",
    };
    /// Hot, cold, and who pays later.
    TORVALDS_2000 = Source {
        id: "torvalds-2000",
        authors: "Linus Torvalds",
        year: 2000,
        title: "Re: A faster memcpy and bzero for x86",
        venue: "Usenet, comp.os.linux.development.system, 7 to 17 December 2000",
        found: "Usenet archives, by group and subject",
        about: "Takes apart four numbers that Robert Redelmeier measured on two Celerons at 517 MHz under Linux and FreeBSD: \
                clearing 4 KB, bzero, a second and a first write to a page. They differ by what is cached, not by code.",
        since: "The argument against clearing pages ahead won: Linux clears them at the fault, and FreeBSD, whose numbers it \
                criticised, switched off its zeroing in idle time in 2007 and removed it in 2016. The argument against vector registers in memcpy lost its \
                ground: they were expensive because saving them could be avoided, and since kernels gave up switching the FPU lazily \
                (Linux in 2016, others after the speculative leak of 2018), the state is saved at every switch whether it was used or \
                not. Every C library now copies with vectors. That a microbenchmark shows the hot case alone, and that \
                stores which bypass the cache bill somebody else, is as true as it was.",
    };
    /// Sixteen ways to zero memory.
    EVANS_2003 = Source {
        id: "evans-2003",
        authors: "Bruce Evans",
        year: 2003,
        title: "Re: Checksum/copy (was: Re: cvs commit: src/sys/netinet ip_output.c)",
        venue: "FreeBSD mailing lists, 31 March 2003",
        found: "Archives of the FreeBSD lists, March 2003, by its subject",
        about: "Sixteen ways to zero 4 KB and 400 MB on an AthlonXP-1600 at 1532 MHz with PC2700 memory, \
                and `make world` with and without movntps in the kernel's pagezero.",
        since: "FreeBSD's amd64 port cleared pages by non-temporal stores (movnti) for years, and then returned to rep stos: \
                caches grew until a page just cleared is likely to be still there when it is used, and microcode learned to \
                store whole lines without reading them first. That is also why the gap between movntps and everything else \
                closed: the bandwidth lost to read-before-write is what fast strings got back. Loops of \
                32-bit stores, unrolled or not, are out of date, and so is x87. His doubts held better than his numbers: \
                a threefold gain in a benchmark was 0.7 % of a build, and the right choice depends on what happens next.",
    };
    /// What compilers inline, and what a string instruction costs.
    EVANS_2018 = Source {
        id: "evans-2018",
        authors: "Bruce Evans",
        year: 2018,
        title: "Re: svn commit: r333240 - in head/sys: powerpc/powerpc sys",
        venue: "FreeBSD mailing list svn-src-head, 5 May 2018",
        found: "https://mail-archive.FreeBSD.org/cgi/mid.cgi?20180505090954.X1307",
        about: "Reviews a change that inlines small copies of constant size in the kernel: what compilers inline, what starting \
                rep movsb costs, and what is left of both beside a system call, on a Haswell at 4.08 GHz.",
        since: "FreeBSD leaves the choice to the compiler now: its kernel's memcpy, memmove and memset are the built-in ones. \
                The start-up of rep movsb has been attacked in hardware (fast short rep mov, from Ice Lake in 2019; Zen since the \
                third generation), and Linux 6.4 (2023) inlines it where the CPU says so. The start-up is still there, and CPUs \
                that report the feature differ widely in where it pays. System calls grew: measures against speculation cost \
                more than the 25 cycles in dispute. He was right to doubt lmbench's memory latency; strides that a prefetcher \
                foresees, and a cache level that the tool did not know, may explain it.",
    };
    /// Sizes of a production fleet.
    CHATELET_2021 = Source {
        id: "chatelet-2021",
        authors: "Guillaume Chatelet and others",
        year: 2021,
        title: "automemcpy: A Framework for Automatic Generation of Fundamental Memory Operations",
        venue: "International Symposium on Memory Management (ISMM), 2021",
        found: "https://doi.org/10.1145/3459898.3463904; the size distributions are in the LLVM project, libc/benchmarks",
        about: "Generates memcpy, memset and memcmp from a description of their strategies, and chooses by the sizes that were \
                sampled in production programs. The situations 'fleet:...' are its distributions.",
        since: "Its functions became those of LLVM's libc. The distributions are what most comparisons of memory functions \
                use since: most calls are below 128 bytes, where branches decide and bandwidth does not.",
    };
    /// A checksum of 40 bytes, step by step.
    VANDEVEN_2021 = Source {
        id: "vandeven-2021",
        authors: "Arjan van de Ven",
        year: 2021,
        title: "csum_partial: an article with its test bench",
        venue: "GitHub, fenrus75/csum_partial",
        found: "https://github.com/fenrus75/csum_partial",
        about: "Makes Linux's csum_partial of 40 bytes faster step by step, from 11.1 cycles to 4.0, on Cascade Lake, \
                and argues from the chain of dependent additions. Starts from Eric Dumazet's rewrite, Linux commit d31c3c683ee6.",
        since: "Linux took up the two steps that carry: a block of 40 bytes for the usual header, and from 80 bytes on two \
                such blocks side by side; the special case of odd addresses was removed in Linux 6.8 (2024). ADX stayed \
                unused, as the article found it to gain nothing over plain add-with-carry. Its table is about calls that wait for \
                each other, because the sum that one returns is the next one's argument: for independent calls, as in a driver, \
                the order is another. It printed sums without comparing them; two of the listed forms are wrong.",
    };
}

/// The document of that name. Case is ignored, and blanks and underscores are hyphens.
#[must_use]
pub fn find(id: &str) -> Option<&'static Source> {
    let wanted = id.trim().to_lowercase().replace([' ', '_'], "-");
    SOURCES.iter().copied().find(|source| source.id == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_variants::Family;
    use std::collections::BTreeSet;

    #[test]
    fn a_document_says_who_when_what_and_where() {
        let mut seen = BTreeSet::new();
        for source in SOURCES {
            let Source { id, authors, year, title, venue, found, about, since } = source;
            assert!(seen.insert(id), "{id} is there twice");
            let (name, of) = id.rsplit_once('-').expect("a name and a year");
            assert_eq!(of, year.to_string(), "{id}");
            let surname = authors.split(',').next().unwrap_or_default().replace(" and others", "");
            let letters = |text: &str| text.to_lowercase().replace([' ', '.'], "");
            assert!(letters(&surname).ends_with(&letters(name)), "{id}: {authors}");
            assert!(!title.is_empty());
            for text in [venue, found] {
                assert!(!text.is_empty() && !text.contains("  ") && !text.ends_with('.'), "{id}: {text}");
            }
            for text in [about, since] {
                assert!(text.ends_with('.') && !text.contains("  "), "{id}: {text}");
            }
        }
        assert!(SOURCES.is_sorted_by_key(|source| source.year));
        assert_eq!(find("Evans_2003"), Some(&EVANS_2003));
        assert_eq!(find("evans"), None);
    }

    #[test]
    fn what_variants_name_as_their_source_is_on_the_list() {
        let is_id = |word: &&str| {
            word.rsplit_once('-').is_some_and(|(name, year)| {
                name.bytes().all(|byte| byte.is_ascii_lowercase())
                    && year.len() == 4
                    && year.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        let mut cited = BTreeSet::new();
        for variant in Family::ALL.iter().flat_map(|family| carryline_variants::of(*family)) {
            let words = variant.provenance.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            for id in words.filter(is_id) {
                assert!(find(id).is_some(), "{}: {id} is on no list", variant.name);
                cited.insert(id);
            }
        }
        assert!(cited.len() >= 5, "{cited:?}");
    }
}
