//! The size of a core's window, as given by the tables.

use super::front::Front;

/// The out-of-order window of a core.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// Slots dispatched per cycle.
    pub dispatch: f64,
    /// Slots retired per cycle.
    pub retire: f64,
    /// Slots in the reorder buffer.
    pub reorder: usize,
    /// Entries of the store queue.
    pub stores: usize,
    /// Cycles from the write of a store to a load of its bytes that could not be forwarded.
    pub unforwarded: f64,
    /// Cycles from the data of a push to the register of the pop that reads it; `None` if it is forwarded like that of any store.
    pub pushed: Option<f64>,
    /// The schedulers.
    pub schedulers: Vec<Scheduler>,
    /// The front end.
    pub front: Front,
    /// The lines of the table with the text of their citations, such as `reorder buffer 448`.
    pub sources: Vec<(String, String)>,
}

/// A queue in which operations wait for their inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduler {
    /// The name in the source.
    pub name: String,
    /// The number of entries.
    pub entries: usize,
    /// The ports that it feeds, as a bit set.
    pub ports: u32,
    /// How an operation gets its port.
    pub assigns: Assigns,
}

/// How a scheduler assigns operations to ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigns {
    /// When the inputs are ready, to the port that is free first.
    First,
    /// At dispatch, to the ports of each set in turn.
    InTurn,
    /// At dispatch, to the port with the fewest operations that wait for it.
    FewestWaiting,
}

impl Assigns {
    /// The words of the tables.
    const NAMES: [(&str, Assigns); 3] =
        [("first", Assigns::First), ("in-turn", Assigns::InTurn), ("fewest-waiting", Assigns::FewestWaiting)];

    /// The way named by a table.
    pub(crate) fn from_name(name: &str) -> Result<Assigns, String> {
        let found = Assigns::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, way)| *way).ok_or_else(|| {
            let names: Vec<&str> = Assigns::NAMES.iter().map(|(known, _)| *known).collect();
            format!("ports are assigned {}, not '{name}'", names.join(", "))
        })
    }
}

/// A value missing from the table.
const MISSING: f64 = -1.0;

impl Default for Core {
    fn default() -> Core {
        Core {
            dispatch: MISSING,
            retire: MISSING,
            reorder: 0,
            stores: 0,
            unforwarded: MISSING,
            pushed: None,
            schedulers: Vec::new(),
            front: Front::UNLIMITED,
            sources: Vec::new(),
        }
    }
}

impl Core {
    /// Applies a line `core NAME VALUE CITATION` of a table, given without its first word and with the
    /// citation's text.
    pub(crate) fn set(&mut self, name: &str, value: f64, citation: &str) -> Result<(), String> {
        let count = value as usize;
        match name {
            "retire" => self.retire = value,
            "reorder" => self.reorder = count,
            "stores" => self.stores = count,
            "unforwarded" => self.unforwarded = value,
            "pushed" => self.pushed = Some(value),
            "taken" => self.front.taken_cycles = value,
            "back" => self.front.back_cycles = value,
            "indirect" => self.front.indirect_cycles = value,
            "return" => self.front.return_cycles = value,
            "block-bytes" => self.front.block_bytes = count.max(1) as u64,
            "block-instructions" => self.front.block_instructions = count.max(1) as u32,
            "blocks" => self.front.blocks = count.max(1) as u32,
            "queue" => self.front.queue = count.max(1),
            _ => return Err(format!("unknown property '{name}' of a core")),
        }
        self.sources.push((format!("{name} {value}"), citation.to_owned()));
        Ok(())
    }

    /// The first property missing from a completely parsed table.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        let rules = [
            (self.retire > 0.0, "core retire"),
            (self.reorder > 0, "core reorder"),
            (self.stores > 0, "core stores"),
            (self.unforwarded >= 0.0, "core unforwarded"),
            (!self.schedulers.is_empty(), "scheduler"),
        ];
        rules.into_iter().find(|(is_there, _)| !is_there).map(|(_, name)| name)
    }
}
