//! From machine code to its chains, drawings and suggestions.

mod article;
mod drawing;
mod input;
mod rules;
mod slots;
mod suggestions;
mod support;
