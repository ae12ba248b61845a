//! The goals: what the program is asked, what it stores, and the document made of it.

mod arguments;
mod document;
mod results;
mod stored;
mod support;
