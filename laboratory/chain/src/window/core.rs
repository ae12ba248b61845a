//! How large the window of a core is, as the tables say it.

use super::front::Front;

/// A core's window.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// Slots that are dispatched in a cycle.
    pub dispatch: f64,
    /// Slots that retire in a cycle.
    pub retire: f64,
    /// Slots of the reorder buffer.
    pub reorder: usize,
    /// Stores that wait to be written to the cache.
    pub stores: usize,
    /// Cycles from the writing of a store to a load of its bytes that could not be forwarded to it.
    pub unforwarded: f64,
    /// The schedulers.
    pub schedulers: Vec<Scheduler>,
    /// The front end.
    pub front: Front,
    /// What the lines of the table say, and who says so: `reorder buffer 448`, and the citation.
    pub sources: Vec<(String, String)>,
}

/// Where operations wait for their inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduler {
    /// What the source calls it.
    pub name: String,
    /// How many operations wait in it.
    pub entries: usize,
    /// The ports that it feeds.
    pub ports: u32,
    /// Operations are given their port at dispatch, in turn, and not the first that is free.
    pub in_turn: bool,
}

/// What tables leave unsaid.
const UNSAID: f64 = -1.0;

impl Default for Core {
    fn default() -> Core {
        Core {
            dispatch: UNSAID,
            retire: UNSAID,
            reorder: 0,
            stores: 0,
            unforwarded: UNSAID,
            schedulers: Vec::new(),
            front: Front::UNLIMITED,
            sources: Vec::new(),
        }
    }
}

impl Core {
    /// Takes a line `core NAME VALUE CITATION` of a table, without its first word and with the citation's text.
    pub(crate) fn set(&mut self, name: &str, value: f64, citation: &str) -> Result<(), String> {
        let count = value as usize;
        match name {
            "retire" => self.retire = value,
            "reorder" => self.reorder = count,
            "stores" => self.stores = count,
            "unforwarded" => self.unforwarded = value,
            "taken" => self.front.taken_cycles = value,
            "back" => self.front.back_cycles = value,
            "indirect" => self.front.indirect_cycles = value,
            "return" => self.front.return_cycles = value,
            "block-bytes" => self.front.block_bytes = count.max(1) as u64,
            "block-instructions" => self.front.block_instructions = count.max(1) as u32,
            "blocks" => self.front.blocks = count.max(1) as u32,
            "queue" => self.front.queue = count.max(1),
            _ => return Err(format!("a core has no '{name}'")),
        }
        self.sources.push((format!("{name} {value}"), citation.to_owned()));
        Ok(())
    }

    /// What a table that has been read as a whole lacks.
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
