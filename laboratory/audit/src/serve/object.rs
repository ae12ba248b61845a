//! A symbol of a shared library, called in a form. It may crash, which is why it runs in a process of its
//! own.

use super::Adapter;
use crate::wire::{Hello, Reply, Request, Rule};
use carryline_verification::forms::{Bound, Form};
use carryline_verification::plugin::{self, PluginError};
use std::path::Path;

/// The reason a symbol cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The file cannot be loaded.
    #[error(transparent)]
    File(#[from] PluginError),
    /// The file does not have the symbol.
    #[error("{file} has no symbol '{symbol}'")]
    NoSymbol {
        /// The file.
        file: String,
        /// The symbol.
        symbol: String,
    },
    /// The form does not exist.
    #[error("unknown form '{0}'")]
    Form(String),
}

struct Object {
    bound: Bound,
    form: Form,
    symbol: String,
}

/// Loads the file and looks up the symbol.
pub fn load(file: &str, symbol: &str, form: &str) -> Result<Box<dyn Adapter>, ObjectError> {
    let form = Form::from_name(form).ok_or_else(|| ObjectError::Form(form.to_owned()))?;
    let library = plugin::open_library(Path::new(file))?;
    let address = plugin::address(&library, symbol)
        .map_err(|_| ObjectError::NoSymbol { file: file.to_owned(), symbol: symbol.to_owned() })?;
    // The code must stay loaded as long as this process lives.
    std::mem::forget(library);
    Ok(Box::new(Object { bound: Bound::new(address, form), form, symbol: symbol.to_owned() }))
}

impl Object {
    fn sum(&self, data: &[u8], seed: u32) -> Reply {
        let mut copied =
            if self.form.copies() { vec![!data.first().unwrap_or(&0); data.len()] } else { Vec::new() };
        // SAFETY: the buffers have this length; whether the symbol has the form is tried in a process of its
        // own.
        let sum = unsafe { self.bound.sum(copied.as_mut_ptr(), data.as_ptr(), data.len(), seed) };
        if self.form.copies() && copied != data {
            return Reply::Error("the copy differs from the source".to_owned());
        }
        Reply::Field((!::carryline::checksum::fold(sum)).to_ne_bytes())
    }
}

impl Adapter for Object {
    fn hello(&self) -> Hello {
        Hello { name: self.symbol.clone(), version: "unknown".to_owned(), repeat: true, udp: false }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        match request {
            Request::Update { rule: Rule::Internet, checksum, offset, old, new } if self.form.updates() => {
                let words = (<[u8; 2]>::try_from(old.as_slice()), <[u8; 2]>::try_from(new.as_slice()));
                let (Ok(old), Ok(new)) = words else { return Reply::Unsupported };
                if !offset.is_multiple_of(2) {
                    return Reply::Unsupported;
                }
                // SAFETY: whether the symbol has the form is tried in a process of its own.
                Reply::Field(unsafe { self.bound.update(*checksum, old, new) })
            }
            _ if self.form.updates() => Reply::Unsupported,
            Request::Sum(data) => self.sum(&data.bytes(), 0),
            Request::Onto { sum, data } if self.form.takes_seed() => {
                self.sum(&data.bytes(), u32::from(u16::from_ne_bytes(*sum)))
            }
            Request::Pieces(pieces) => {
                let pieces: Vec<Vec<u8>> = pieces.iter().map(crate::wire::Data::bytes).collect();
                let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
                // SAFETY: the pieces live through the call; whether the symbol has the form is tried in a
                // process of its own.
                unsafe { self.bound.sum_pieces(&pieces) }
                    .map_or(Reply::Unsupported, |sum| Reply::Field((!sum).to_ne_bytes()))
            }
            _ => Reply::Unsupported,
        }
    }
}
