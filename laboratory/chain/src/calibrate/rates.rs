//! The width and ports of this machine, measured: how many independent instructions of each class start per
//! cycle, alone and mixed with another class. Two classes that are as fast together as alone have separate
//! ports; two whose times add up share them. The resulting port layout gives a table to a CPU that has none.

use super::CalibrateError;
use crate::class::Class;
use crate::table::{Table, TableError};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Measured rates, in instructions per cycle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// The dispatch width.
    pub width: f64,
    /// The rate of each class alone, by class name; without classes that this CPU lacks.
    pub alone: Vec<(String, f64)>,
    /// The rates of two classes mixed in the ratio of their rates alone, by class names.
    pub together: Vec<(String, String, f64)>,
}

/// How far a rate may be below a number of ports to count as that number, because of the timed loop's own
/// instructions.
const NEAR: f64 = 0.15;

/// Carries per cycle from which the samples' own chains are the limit, not the ports.
const CARRIES: f64 = 2.4;

/// Measures all rates; `tell` receives the number of steps done, and their total.
///
/// # Errors
/// If nothing can be measured.
pub fn rates(clock: super::Clock, tell: &mut dyn FnMut(usize, usize)) -> Result<Rates, CalibrateError> {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        super::run::rates(clock, tell)
    }
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    {
        let _ = (clock, tell);
        Err(CalibrateError::OtherMachine)
    }
}

impl Rates {
    /// The rate of a class alone; `None` if this CPU lacks it.
    pub(super) fn alone(&self, class: Class) -> Option<f64> {
        self.alone.iter().find(|(name, _)| name == class.name()).map(|(_, rate)| *rate)
    }

    /// The number of ports of a class: its rate, rounded down, and at least one.
    fn count(&self, class: Class) -> usize {
        self.alone(class).map_or(1, |rate| (rate + NEAR).floor().max(1.0) as usize)
    }

    /// The number of ports of two classes together; the sum if the dispatch width hides it.
    fn union(&self, a: Class, b: Class) -> usize {
        let sum = self.count(a) + self.count(b);
        let found = self.together.iter().find(|(x, y, _)| x == a.name() && y == b.name());
        match found {
            Some((_, _, rate)) if *rate < self.width - 0.5 => ((rate + NEAR).round() as usize).min(sum),
            _ => sum,
        }
    }

    /// The lines of a table with these ports and this width.
    #[must_use]
    pub fn lines(&self) -> String {
        use Class as C;
        let mut out = format!("issue {}\n", (self.width + NEAR).floor().max(1.0));
        let alu = self.count(C::Alu);
        let integer = |class: Class, is_high: bool| {
            let own = self.union(C::Alu, class).saturating_sub(alu).min(self.count(class));
            let inner = (self.count(class) - own).min(alu);
            let first = if is_high { alu - inner } else { 0 };
            let inside = (first..first + inner).map(|port| format!("i{port}"));
            let outside = (0..own).map(|port| format!("{}{port}", &class.name()[..2]));
            inside.chain(outside).collect::<Vec<_>>().join(",")
        };
        // Classes that share no port with the shifts are at the other end.
        let is_high = |class| self.union(C::Shift, class) >= self.count(C::Shift) + self.count(class);
        let numbered = |letter: char, first: usize, count: usize| {
            (first..first + count).map(|port| format!("{letter}{port}")).collect::<Vec<_>>().join(",")
        };
        let _ = writeln!(out, "class alu {}", numbered('i', 0, alu));
        let carry = match self.alone(C::Carry) {
            Some(rate) if rate > CARRIES => numbered('i', 0, alu),
            _ => integer(C::Carry, false),
        };
        let _ = writeln!(out, "class carry {carry}");
        for class in [C::Shift, C::Lea] {
            let _ = writeln!(out, "class {} {}", class.name(), integer(class, false));
        }
        for class in [C::Multiply, C::BitCount, C::Branch] {
            let _ = writeln!(out, "class {} {}", class.name(), integer(class, is_high(class)));
        }
        for (letter, classes) in [
            ('l', [C::Load, C::VectorLoad, C::VectorLoad512]),
            ('s', [C::Store, C::VectorStore, C::VectorStore512]),
        ] {
            for class in classes {
                let _ = writeln!(out, "class {} {}", class.name(), numbered(letter, 0, self.count(class)));
            }
        }
        let shared = [("g", C::Load, C::Store), ("m", C::VectorLoad, C::VectorStore)];
        for (letter, load, store) in shared {
            let both = self.union(load, store);
            if both < self.count(load) + self.count(store) {
                let ports: Vec<String> = (0..both).map(|port| format!("{letter}{port}")).collect();
                let _ = writeln!(out, "shared {} {} {}", ports.join(","), load.name(), store.name());
            }
        }
        self.vectors(&mut out, alu);
        out.push_str("class nothing\n");
        out
    }

    fn vectors(&self, out: &mut String, alu: usize) {
        use Class as C;
        let count = self.count(C::Vector);
        let common = (alu + count).saturating_sub(self.union(C::Alu, C::Vector)).min(count).min(alu);
        let name = |port: usize| if port < common { format!("i{port}") } else { format!("v{port}") };
        let ports =
            |first: usize, many: usize| (first..first + many).map(&name).collect::<Vec<_>>().join(",");
        let multiply = self.count(C::VectorMultiply).min(count);
        let shuffle = self.count(C::Shuffle).min(count);
        let is_apart = self.union(C::VectorMultiply, C::Shuffle) >= multiply + shuffle;
        let places = [
            (C::Vector, C::Vector512, 0, count),
            (C::VectorMultiply, C::VectorMultiply512, 0, multiply),
            (C::Shuffle, C::Shuffle512, if is_apart { count - shuffle } else { 0 }, shuffle),
        ];
        for (narrow, wide, first, many) in places {
            let _ = writeln!(out, "class {} {}", narrow.name(), ports(first, many));
            // Half as many at twice the width means two operations each.
            let wider = self.count(wide).min(many);
            let line = match self.alone(wide) {
                Some(_) if wider * 2 == many => format!("2*{}", ports(first, many)),
                Some(_) => ports(first, wider),
                None => ports(first, many),
            };
            let _ = writeln!(out, "class {} {line}", wide.name());
        }
        for class in [C::Cross, C::Mask] {
            let _ = writeln!(out, "class {} {}", class.name(), ports(0, self.count(class).min(count)));
        }
    }

    /// The nearest table with the measured width and ports. It is never freed, like all tables.
    ///
    /// # Errors
    /// The reason the parser of tables rejects the lines.
    pub fn table(&self, nearest: &Table) -> Result<&'static Table, TableError> {
        Ok(Box::leak(Box::new(nearest.with_ports(&self.lines())?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    /// Four ALUs, two with shifts and the other two with branches; two loads and a store that share three
    /// addresses; three vector ports that are also ALUs.
    fn small() -> Rates {
        let alone = [
            (Class::Alu, 3.97),
            (Class::Carry, 2.0),
            (Class::Shift, 1.98),
            (Class::Branch, 2.0),
            (Class::Multiply, 1.0),
            (Class::Load, 3.0),
            (Class::Store, 1.0),
            (Class::VectorLoad, 2.0),
            (Class::VectorStore, 1.0),
            (Class::Vector, 2.95),
            (Class::Vector512, 1.0),
            (Class::VectorMultiply, 2.0),
            (Class::VectorMultiply512, 1.0),
            (Class::Shuffle, 1.0),
        ];
        let together = [
            (Class::Alu, Class::Shift, 3.98),
            (Class::Alu, Class::Branch, 3.98),
            (Class::Alu, Class::Multiply, 4.0),
            (Class::Alu, Class::Carry, 4.0),
            (Class::Shift, Class::Branch, 3.96),
            (Class::Shift, Class::Multiply, 2.0),
            (Class::Load, Class::Store, 3.0),
            (Class::Alu, Class::Vector, 3.97),
            (Class::VectorMultiply, Class::Shuffle, 2.97),
        ];
        Rates {
            width: 5.98,
            alone: alone.map(|(class, rate)| (class.name().to_owned(), rate)).to_vec(),
            together: together.map(|(a, b, r)| (a.name().to_owned(), b.name().to_owned(), r)).to_vec(),
        }
    }

    #[test]
    fn ports_are_laid_out_as_the_classes_share_them() {
        let lines = small().lines();
        let of = |class: &str| {
            let start = format!("class {class} ");
            lines
                .lines()
                .find_map(|line| line.strip_prefix(&start))
                .unwrap_or_else(|| panic!("{class}: {lines}"))
        };
        assert_eq!(lines.lines().next(), Some("issue 6"));
        assert_eq!((of("alu"), of("shift"), of("branch")), ("i0,i1,i2,i3", "i0,i1", "i2,i3"));
        assert_eq!(of("multiply"), "i0");
        assert_eq!((of("vector"), of("shuffle"), of("vector-512")), ("i0,i1,i2", "i2", "i0"));
        assert_eq!(of("vector-multiply-512"), "2*i0,i1");
        assert!(lines.contains("shared g0,g1,g2 load store"), "{lines}");
        assert!(!lines.contains("vector-load vector-store"), "{lines}");
    }

    #[test]
    fn a_table_combines_the_rates_with_the_nearest_table() {
        let nearest = table::by_name("zen4").expect("a table");
        let table = small().table(nearest).expect("lines that can be read");
        assert_eq!(table.issue_width, 6.0);
        assert_eq!(table.family(), "zen4");
        assert_eq!(table.core.reorder, nearest.core.reorder);
        assert_eq!(table.work_of(Class::Shift)[0].ports.count_ones(), 2);
        assert!(table.title.contains("measured"), "{}", table.title);
    }
}
