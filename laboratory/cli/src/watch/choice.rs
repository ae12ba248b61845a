//! The choices of the live screen (family, size, addresses, cache state) and the situations that they select.

use carryline_conditions::sizes::{SizeError, Sizes};
use carryline_conditions::{Cache, CacheMethod, Condition, Dependence, Offsets};
use carryline_engine::impossible::impossible;
use carryline_engine::standard;
use carryline_machine::environment::CacheSizes;
use carryline_results::gather::Situation;
use carryline_variants::Family;

/// The sizes to step through, in addition to those of the command line.
const SIZES: &str = "40,64,256,576,1500,4K,9000,64K,1M,fleet:memcpy-A";

/// A list with one chosen entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder<T> {
    entries: Vec<T>,
    at: usize,
}

impl<T: Clone + PartialEq> Ladder<T> {
    /// The requested entries, then the usual ones; the first is chosen. `None` if there are none.
    pub fn new(requested: Vec<T>, usual: Vec<T>) -> Option<Ladder<T>> {
        let mut entries = requested;
        for entry in usual {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        (!entries.is_empty()).then_some(Ladder { entries, at: 0 })
    }

    /// The chosen entry.
    pub fn get(&self) -> &T {
        &self.entries[self.at]
    }

    /// Moves the choice, wrapping around; false if it is still the same.
    pub fn step(&mut self, by: isize) -> bool {
        let before = self.at;
        self.at = (self.at as isize + by).rem_euclid(self.entries.len() as isize) as usize;
        self.at != before
    }
}

/// The choices that keys change.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The families to choose from.
    pub family: Ladder<Family>,
    /// Sizes of the calls.
    pub size: Ladder<Sizes>,
    /// Offsets of the buffers, a column for each.
    pub offsets: Ladder<Vec<Offsets>>,
    /// State of the caches.
    pub cache: Ladder<Cache>,
}

/// Pairs of offsets: even and odd, the same within a line, at a line's end, and random.
pub fn usual_offsets() -> Vec<Vec<Offsets>> {
    let at = |offset| Offsets::Fixed { dst: offset, src: offset };
    vec![vec![at(0), at(1)], vec![at(6), at(13)], vec![at(62), at(63)], vec![Offsets::Random, Offsets::Alias]]
}

/// Every cache state that this architecture can prepare.
pub fn usual_caches() -> Vec<Cache> {
    let mut caches = vec![Cache::HOT];
    if cfg!(target_arch = "x86_64") {
        caches.push(Cache::cold(CacheMethod::Clflush));
    }
    caches.extend([CacheMethod::Evict, CacheMethod::Arena].map(Cache::cold));
    caches
}

/// The sizes to step through by default.
pub fn usual_sizes() -> Result<Vec<Sizes>, SizeError> {
    Sizes::parse_list(SIZES)
}

/// The dependences that a family's screen shows.
fn dependences(family: Family) -> &'static [Dependence] {
    match family {
        Family::Checksum | Family::CopyChecksum => &Dependence::ALL,
        Family::Zero | Family::Copy => &[Dependence::Chained, Dependence::Independent],
    }
}

impl Choice {
    /// The situations of the screen, one per column from left to right, and the reasons for omitted ones.
    pub fn situations(
        &self,
        subjects: &dyn Fn(Family) -> (Vec<String>, Option<usize>),
        caches: &CacheSizes,
    ) -> (Vec<Situation>, Vec<String>) {
        let family = *self.family.get();
        let (mut made, mut refused) = (Vec::new(), Vec::new());
        for dependence in dependences(family) {
            for offsets in self.offsets.get() {
                let condition = Condition {
                    sizes: self.size.get().clone(),
                    offsets: *offsets,
                    cache: *self.cache.get(),
                    dependence: *dependence,
                    ..Condition::plain(0)
                };
                match impossible(family, &condition, caches) {
                    Some(reason) => refused.push(reason),
                    None => made.push(standard::situation(family, condition, 1.0, subjects)),
                }
            }
        }
        refused.dedup();
        (made, refused)
    }

    /// The command line that measures the same situations.
    pub fn command(&self, variants: &[String], plugins: &[String]) -> Vec<String> {
        let family = *self.family.get();
        let join = |words: Vec<String>| words.join(",");
        let dependences = dependences(family).iter().map(ToString::to_string).collect();
        let mut words = vec!["measure".to_owned()];
        for (option, value) in [
            ("--family", family.to_string()),
            ("--sizes", self.size.get().label.clone()),
            ("--offsets", join(self.offsets.get().iter().map(ToString::to_string).collect())),
            ("--cache", self.cache.get().to_string()),
            ("--dependence", join(dependences)),
        ] {
            words.extend([option.to_owned(), value]);
        }
        if !variants.is_empty() {
            words.extend(["--variants".to_owned(), variants.join(",")]);
        }
        for plugin in plugins {
            words.extend(["--plugin".to_owned(), plugin.clone()]);
        }
        words
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const CACHES: CacheSizes = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20, l3_held: None };

    /// The usual choice, beginning with checksums.
    pub fn usual() -> Choice {
        Choice {
            family: Ladder::new(vec![Family::Checksum], Family::ALL.to_vec()).expect("families"),
            size: Ladder::new(Vec::new(), usual_sizes().expect("sizes")).expect("sizes"),
            offsets: Ladder::new(Vec::new(), usual_offsets()).expect("offsets"),
            cache: Ladder::new(Vec::new(), usual_caches()).expect("caches"),
        }
    }

    fn names(choice: &Choice) -> Vec<String> {
        let (made, refused) = choice.situations(&|_| (vec!["a".to_owned()], None), &CACHES);
        assert!(refused.is_empty(), "{refused:?}");
        made.into_iter().map(|situation| situation.name).collect()
    }

    #[test]
    fn checksums_have_six_columns_and_copies_four() {
        let mut choice = usual();
        assert_eq!(
            names(&choice),
            [
                "checksum 40 hot chained",
                "checksum 40 offset 1 hot chained",
                "checksum 40 hot independent",
                "checksum 40 offset 1 hot independent",
                "checksum 40 hot fenced",
                "checksum 40 offset 1 hot fenced",
            ]
        );
        while *choice.family.get() != Family::Copy {
            assert!(choice.family.step(1));
        }
        assert_eq!(names(&choice).len(), 4);
        choice.offsets.step(-1);
        assert_eq!(
            names(&choice),
            [
                "copy 40 offset random hot chained",
                "copy 40 offset alias hot chained",
                "copy 40 offset random hot independent",
                "copy 40 offset alias hot independent",
            ]
        );
    }

    #[test]
    fn a_family_with_one_buffer_has_no_alias() {
        let mut choice = usual();
        choice.offsets.step(-1);
        let (made, refused) = choice.situations(&|_| (vec!["a".to_owned()], None), &CACHES);
        assert_eq!((made.len(), refused.len()), (3, 1), "{refused:?}");
    }

    #[test]
    fn requested_entries_come_first_and_only_once() {
        let mut ladder = Ladder::new(vec![3], vec![1, 2, 3]).expect("entries");
        assert_eq!((*ladder.get(), ladder.step(-1), *ladder.get()), (3, true, 2));
        assert!(ladder.step(1) && *ladder.get() == 3);
        assert!(Ladder::<u8>::new(Vec::new(), Vec::new()).is_none());
        assert!(!Ladder::new(vec![1], Vec::new()).expect("an entry").step(1));
    }

    #[test]
    fn the_command_measures_the_same() {
        let words = usual().command(&["avx2".to_owned()], &["f.so:s:checksum".to_owned()]).join(" ");
        assert_eq!(
            words,
            "measure --family checksum --sizes 40 --offsets 0,1 --cache hot --dependence chained,independent,fenced \
             --variants avx2 --plugin f.so:s:checksum"
        );
    }
}
