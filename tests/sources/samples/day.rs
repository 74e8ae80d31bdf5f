//! Parses dates.
use std::io;

/// A day.
#[derive(Clone)]
pub struct Day {
}

impl Day {
    /// The next day.
    pub fn next(&self) -> Day {
    }
    fn hidden() {}
}
