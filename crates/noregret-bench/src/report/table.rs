//! Tables as plain text, columns aligned by what the reader sees, and as Markdown; numbers to three digits.

use super::summary::{Cell, Summary};
use std::fmt::{self, Display, Write};

/// Rows of text under a header.
///
/// A column whose cells all begin with a number is aligned to the right, every other to the left.
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has more or fewer cells than the header.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.header.len(), "cells of a row");
        self.rows.push(cells);
        self
    }

    /// Names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The rows, each with as many cells as the header.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Whether all cells of a column that are not empty begin with a number, and there are such.
    pub fn is_numeric(&self, column: usize) -> bool {
        let mut filled =
            self.rows.iter().map(|row| row[column].as_str()).filter(|cell| !cell.is_empty()).peekable();
        filled.peek().is_some() && filled.all(begins_with_number)
    }

    /// One row for each problem and algorithm: runs, `mean ± sd [rank]` under the name of the metric, and the median.
    pub fn of(summary: &Summary, metric: &str) -> Self {
        let mut table = Self::new(["problem", "algorithm", "runs", metric, "median"]);
        for cell in &summary.cells {
            table.row(summary_row(cell));
        }
        table
    }

    /// The same with a last column `paper`: what was published for a problem and an algorithm, where it was.
    pub fn beside_paper(
        summary: &Summary,
        metric: &str,
        paper: impl Fn(&str, &str) -> Option<String>,
    ) -> Self {
        let mut table = Self::new(["problem", "algorithm", "runs", metric, "median", "paper"]);
        for cell in &summary.cells {
            let published = paper(&cell.problem, &cell.algorithm).unwrap_or_default();
            table.row(summary_row(cell).into_iter().chain([published]));
        }
        table
    }

    /// One row for each problem and one column for each algorithm, with `mean ± sd [rank]` in every cell.
    pub fn matrix(summary: &Summary) -> Self {
        let mut table =
            Self::new(["problem".to_owned()].into_iter().chain(summary.algorithms.iter().cloned()));
        for problem in &summary.problems {
            table.row(matrix_row(summary, problem));
        }
        table
    }

    /// The same with a last column of that heading: what is known of a problem from elsewhere.
    pub fn matrix_beside(summary: &Summary, heading: &str, known: impl Fn(&str) -> String) -> Self {
        Self::matrix(summary).beside(heading, summary.problems.iter().map(|problem| known(problem)))
    }

    /// The table with one more column.
    ///
    /// # Panics
    /// When there are more or fewer cells than rows.
    #[must_use]
    pub fn beside(mut self, heading: &str, cells: impl IntoIterator<Item = String>) -> Self {
        let cells: Vec<String> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.rows.len(), "cells of a column");
        self.header.push(heading.into());
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        self
    }

    /// Writes the table, a line for each row and one under the header.
    pub fn write(&self, out: &mut impl Write) -> fmt::Result {
        let columns: Vec<Column> = (0..self.header.len()).map(|i| self.column(i)).collect();
        write_line(out, &columns, &self.header)?;
        let rules: Vec<String> = columns.iter().map(|column| "─".repeat(column.width)).collect();
        write_line(out, &columns, &rules)?;
        self.rows.iter().try_for_each(|row| write_line(out, &columns, row))
    }

    /// The table as Markdown of GitHub's kind.
    pub fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let escaped = |cells: &[String]| line(cells.iter().map(|cell| cell.replace('|', "\\|")).collect());
        let rule = |i: usize| if self.is_numeric(i) { "---:" } else { "---" }.to_owned();
        let head = escaped(&self.header) + &line((0..self.header.len()).map(rule).collect());
        head + &self.rows.iter().map(|row| escaped(row)).collect::<String>()
    }

    fn column(&self, i: usize) -> Column {
        let cells = || self.rows.iter().map(|row| row[i].as_str());
        let width = cells().chain([self.header[i].as_str()]).map(width).max().unwrap_or(0);
        Column { width, right: self.is_numeric(i) }
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

struct Column {
    width: usize,
    right: bool,
}

fn write_line(out: &mut impl Write, columns: &[Column], cells: &[String]) -> fmt::Result {
    let mut line = String::new();
    for (i, (column, cell)) in columns.iter().zip(cells).enumerate() {
        let gap = if i == 0 { "" } else { "  " };
        let padding = " ".repeat(column.width - width(cell));
        let (left, right) = if column.right { (padding.as_str(), "") } else { ("", padding.as_str()) };
        write!(line, "{gap}{left}{cell}{right}")?;
    }
    writeln!(out, "{}", line.trim_end())
}

fn matrix_row(summary: &Summary, problem: &str) -> Vec<String> {
    let value = |algorithm: &String| {
        let cell = summary.get(problem, algorithm);
        cell.map_or(String::new(), |cell| mean_sd_rank(cell.mean, cell.sd, Some(cell.rank)))
    };
    [problem.to_owned()].into_iter().chain(summary.algorithms.iter().map(value)).collect()
}

fn summary_row(cell: &Cell) -> [String; 5] {
    let value = mean_sd_rank(cell.mean, cell.sd, Some(cell.rank));
    [cell.problem.clone(), cell.algorithm.clone(), cell.count.to_string(), value, compact(cell.median)]
}

/// `27.1 ± 11.7 [1]`; without a deviation (a single run) `27.1 [1]`, without a rank `27.1 ± 11.7`.
pub fn mean_sd_rank(mean: f64, sd: f64, rank: Option<usize>) -> String {
    let spread = if sd.is_nan() { String::new() } else { format!(" ± {}", compact(sd)) };
    let rank = rank.map(|rank| format!(" [{rank}]")).unwrap_or_default();
    compact(mean) + &spread + &rank
}

/// Three significant digits: `27.1`, `0.0331`, `1.25e-4`; whole numbers from 1000 to a million, and beyond `2.5e6`.
pub fn compact(x: f64) -> String {
    compact_to(3, x)
}

/// The same with another number of significant digits, at least one.
pub(super) fn compact_to(digits: usize, x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{}", x + 0.0); // `+ 0.0` takes the sign from a negative zero
    }
    // The exponent after rounding, so that 9.996 is 10.0 and not 10.00.
    let scientific = format!("{x:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent @ -3..=5) => {
            let decimals = digits.saturating_add_signed(-1 - exponent as isize);
            format!("{x:.decimals$}")
        }
        _ => format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.')),
    }
}

/// Columns a text takes on a terminal: its characters, combining marks left out.
fn width(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

fn begins_with_number(cell: &str) -> bool {
    cell.split_whitespace().next().is_some_and(|word| word.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::records;
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (27.14, "27.1"),
            (9.996, "10.0"),
            (999.6, "1000"),
            (-0.5, "-0.500"),
            (0.033_14, "0.0331"),
            (0.001, "0.00100"),
            (0.000_999_9, "0.00100"),
            (0.000_999, "9.99e-4"),
            (1.2e-4, "1.2e-4"),
            (1e-12, "1e-12"),
            (123_456.7, "123457"),
            (2_500_000.0, "2.5e6"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(compact(x), text);
        }
    }

    #[test]
    fn cells_leave_out_what_is_unknown() {
        assert_eq!(mean_sd_rank(27.14, 11.71, Some(1)), "27.1 ± 11.7 [1]");
        assert_eq!(mean_sd_rank(27.14, f64::NAN, Some(2)), "27.1 [2]");
        assert_eq!(mean_sd_rank(0.0017, 0.0011, None), "0.00170 ± 0.00110");
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let mut table = Table::new(["name", "value", "note"]);
        table
            .row(["a", "27.1 ± 11.7 [1]", "x"])
            .row(["e\u{301}te\u{301}", "3 ± 1 [2]", ""])
            .row(["béla", "NaN", "1.5"]);
        let expected = "\
name            value  note
────  ───────────────  ────
a     27.1 ± 11.7 [1]  x
e\u{301}te\u{301}         3 ± 1 [2]
béla              NaN  1.5
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn a_table_without_rows_is_its_header() {
        assert_eq!(Table::new(["a", "bc"]).to_string(), "a  bc\n─  ──\n");
    }

    #[test]
    fn markdown_aligns_numbers_and_keeps_bars_within_cells() {
        let mut table = Table::new(["name", "value"]);
        table.row(["a|b", "27.1 ± 11.7"]).row(["c", ""]);
        assert_eq!(
            table.to_markdown(),
            "| name | value |\n| --- | ---: |\n| a\\|b | 27.1 ± 11.7 |\n| c |  |\n"
        );
    }

    #[test]
    fn a_summary_beside_the_paper() {
        let all =
            [records("branin", "gp-ucb", &[20.0, 30.0]), records("branin", "random", &[250.0])].concat();
        let summary = Summary::of(&all, |record| record.simple_regret);
        let paper = |_: &str, algorithm: &str| (algorithm == "gp-ucb").then(|| "27.1 ± 11.7".to_owned());
        let expected = "\
problem  algorithm  runs           regret  median        paper
───────  ─────────  ────  ───────────────  ──────  ───────────
branin   gp-ucb        2  25.0 ± 7.07 [1]    25.0  27.1 ± 11.7
branin   random        1          250 [2]     250
";
        assert_eq!(Table::beside_paper(&summary, "regret", paper).to_string(), expected);
        assert!(Table::of(&summary, "regret").to_string().starts_with("problem  algorithm  runs"));
    }

    #[test]
    fn problems_by_algorithms() {
        let all = [
            records("branin", "gp-ucb", &[20.0, 30.0]),
            records("branin", "random", &[250.0]),
            records("levy-5d", "random", &[4.0]),
        ]
        .concat();
        let summary = Summary::of(&all, |record| record.simple_regret);
        let known = |problem: &str| if problem == "branin" { "27.1".into() } else { String::new() };
        let expected = "\
problem           gp-ucb    random  theirs
───────  ───────────────  ────────  ──────
branin   25.0 ± 7.07 [1]   250 [2]    27.1
levy-5d                   4.00 [1]
";
        assert_eq!(Table::matrix_beside(&summary, "theirs", known).to_string(), expected);
        assert!(Table::matrix(&summary).to_string().starts_with("problem           gp-ucb    random\n"));
    }
}
