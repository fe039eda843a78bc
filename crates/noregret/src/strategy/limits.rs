//! Limits that the algorithms share: the size of an initial design, and the memory that a configuration may need.

use crate::math::range::Range;

/// Points before the model is asked: as many as one batch may have.
pub(crate) const INITIAL_POINTS: Range = Range::new(0.0, 1e5);

/// Gigabytes that the largest table of an algorithm may take: what a machine of 16 GB has to spare.
pub const MOST_GIGABYTES: f64 = 8.0;

/// A configuration that would need more memory than is allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{factors} would need {gigabytes:.0} GB of memory, and {MOST_GIGABYTES} GB are allowed: lower one of them"
)]
pub struct TooMuchMemory {
    /// The numbers whose product decides, by name.
    pub factors: String,
    /// What they would need.
    pub gigabytes: f64,
}

/// A table that an algorithm keeps in memory: as many numbers as the product of its factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Options, or what else is counted, by name.
    pub factors: Vec<(&'static str, usize)>,
    /// Bytes of one number.
    pub bytes: usize,
}

impl Table {
    /// A table of 64-bit numbers.
    pub fn of(factors: impl Into<Vec<(&'static str, usize)>>) -> Self {
        Self { factors: factors.into(), bytes: 8 }
    }

    /// Returns an error if the table is too large.
    pub fn check(&self) -> Result<(), TooMuchMemory> {
        let product: f64 = self.factors.iter().map(|(_, count)| *count as f64).product();
        let gigabytes = product * self.bytes as f64 / 1e9;
        if gigabytes <= MOST_GIGABYTES {
            return Ok(());
        }
        let factors: Vec<String> =
            self.factors.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        Err(TooMuchMemory { factors: factors.join(" times "), gigabytes })
    }
}

/// The memory that the options of an algorithm ask for.
pub trait Demand {
    /// Its largest tables over a space of so many coordinates. What grows with the data alone is no matter of options.
    fn tables(&self, _dims: usize) -> Vec<Table> {
        Vec::new()
    }
}

/// The name of the number of coordinates.
pub(crate) const PARAMETERS: &str = "parameters";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_options_and_what_they_need() {
        let table = Table::of([("solver.candidates", 1_000_000), ("model.max_points", 8_000)]);
        assert_eq!(
            table.check().unwrap_err().to_string(),
            "solver.candidates (1000000) times model.max_points (8000) would need 64 GB of memory, and 8 GB are allowed: \
             lower one of them"
        );
        assert_eq!(Table::of([("solver.candidates", 1_000), ("model.max_points", 8_000)]).check(), Ok(()));
        assert!(Table::of([("a", usize::MAX), ("b", usize::MAX), ("c", usize::MAX)]).check().is_err());
    }
}
