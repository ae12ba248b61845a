//! From machine code to its chains, drawings and suggestions.

mod article;
mod drawing;
mod input;
mod rules;
mod suggestions;
mod support;
