//! The findings as a page, and as Markdown for documents.

use std::fmt::Write as _;

use super::findings::Finding;
use crate::BenchError;
use crate::report::{Page, Surroundings, Table};

/// All that is to be told.
pub(super) struct Report {
    pub(super) title: String,
    pub(super) summary: String,
    pub(super) findings: Vec<Finding>,
    /// Runs that failed, and why.
    pub(super) failures: Vec<String>,
    /// Of the libraries behind the methods.
    pub(super) versions: Table,
}

impl Report {
    pub(super) fn page(&self, surroundings: &Surroundings) -> Result<Page, BenchError> {
        let mut page = Page::new(&self.title);
        page.paragraph(&self.summary);
        for Finding { title, lead, table, figures } in &self.findings {
            page.heading(title).paragraph(lead);
            if !table.rows().is_empty() {
                page.table(table);
            }
            for figure in figures {
                page.figure(&figure.to_svg()?);
            }
        }
        if !self.failures.is_empty() {
            page.heading("Runs that failed").list(self.failures.iter().cloned());
        }
        page.heading("Versions").table(&self.versions);
        page.footnote("Command", &surroundings.command);
        page.footnote("Date of this page", &surroundings.date);
        page.footnote("Machine of this page", &surroundings.machine);
        Ok(page)
    }

    /// The same without figures.
    pub(super) fn markdown(&self, surroundings: &Surroundings) -> String {
        let Surroundings { command, date, machine } = surroundings;
        let mut text = format!("# {}\n\n{}\n", self.title, self.summary);
        for Finding { title, lead, table, .. } in &self.findings {
            let _ = write!(text, "\n## {title}\n\n{lead}\n");
            if !table.rows().is_empty() {
                let _ = write!(text, "\n{}", table.to_markdown());
            }
        }
        if !self.failures.is_empty() {
            let _ = write!(text, "\n## Runs that failed\n\n- {}\n", self.failures.join("\n- "));
        }
        let _ = write!(text, "\n## Versions\n\n{}", self.versions.to_markdown());
        let _ = write!(text, "\nMade by `{command}`, {date}, {machine}.\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings::Figure;
    use super::*;
    use crate::report::html::tests::assert_well_formed;
    use crate::report::{Bar, BarPanel, BarPlot, LinePanel, LinePlot, RankAxis, Series};

    #[test]
    fn a_page_holds_tables_figures_and_where_they_come_from() {
        let mut table = Table::new(["method", "value"]);
        table.row(["a<b", "1.0"]);
        let bars = vec![Bar { label: "a<b".into(), mean: 0.1, sd: f64::NAN }];
        let series = vec![Series { label: "a<b".into(), points: Vec::new() }];
        let figures = vec![
            Figure::Ranks(RankAxis { methods: vec![("a<b".into(), 1.0)], critical_difference: Some(0.5) }),
            Figure::Bars(BarPlot {
                panels: vec![BarPanel { title: "p".into(), bars }],
                ..BarPlot::default()
            }),
            Figure::Lines(LinePlot {
                panels: vec![LinePanel { series, ..LinePanel::default() }],
                ..LinePlot::default()
            }),
        ];
        let empty = Finding {
            title: "Nothing",
            lead: "because".into(),
            table: Table::new(["a"]),
            figures: Vec::new(),
        };
        let report = Report {
            title: "peers & us".into(),
            summary: "3 runs".into(),
            findings: vec![
                Finding { title: "Ranks", lead: "p < 0.1".into(), table: table.clone(), figures },
                empty,
            ],
            failures: vec!["a<b on branin: TypeError: '<' not supported".into()],
            versions: table,
        };
        let surroundings = Surroundings {
            command: "noregret bench peers".into(),
            date: "2026-11-16".into(),
            machine: "EPYC, 2 cores".into(),
        };
        let html = report.page(&surroundings).unwrap().to_string();
        assert_well_formed(&html);
        for part in [
            "<h1>peers &amp; us</h1>",
            "<h2>Ranks</h2>",
            "<p>because</p>",
            "<li>a&lt;b on branin: TypeError: &#39;&lt;&#39; not supported</li>",
            "<code>noregret bench peers</code>",
            "<code>2026-11-16</code>",
            "<code>EPYC, 2 cores</code>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        let markdown = report.markdown(&surroundings);
        for part in [
            "## Ranks\n\np < 0.1\n\n| method | value |\n",
            "\n- a<b on branin",
            "`noregret bench peers`, 2026",
        ] {
            assert!(markdown.contains(part), "{part} in {markdown}");
        }
        assert_eq!((html.matches("<svg").count(), html.matches("<table>").count()), (3, 2));
        assert!(!html.contains("<script") && !html.contains("a<b"));
    }
}
