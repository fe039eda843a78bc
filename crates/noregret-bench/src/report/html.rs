//! A page of tables and figures that needs nothing but itself: style and SVG are inline, and there is no script.

use std::fmt::{Display, Write as _};

use super::table::Table;

/// Dark on white, figures and wide tables in frames of their own that scroll, so that the page never does sideways.
const STYLE: &str = "\
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid #ddd; padding-bottom: 0.2rem; }
p { max-width: 48rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: 0.25rem 0.7rem; text-align: left; white-space: nowrap; border-bottom: 1px solid #eee; }
th { border-bottom: 1px solid #888; vertical-align: bottom; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
tbody tr:hover td { background: #f5f8fb; }
svg { max-width: 100%; height: auto; }
code { font-size: 13px; background: #f4f4f4; padding: 0.1rem 0.3rem; }
footer { margin-top: 3rem; border-top: 1px solid #ddd; color: #555; font-size: 13px; }";

/// Text as it may stand between tags and in attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Of the characters that no page may hold, whatever an adapter has printed.
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A page, from its heading downwards. Whatever is given as text is escaped.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
    footer: String,
}

impl Page {
    /// A page with a heading and nothing under it.
    pub fn new(title: &str) -> Self {
        Self { title: escape(title), body: String::new(), footer: String::new() }
    }

    /// The heading of a section.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.element("h2", &escape(text))
    }

    /// A paragraph; nothing for no text.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        let text = text.trim();
        if text.is_empty() { self } else { self.element("p", &escape(text)) }
    }

    /// A list with one item for each text; nothing for none.
    pub fn list(&mut self, items: impl IntoIterator<Item = String>) -> &mut Self {
        let items: Vec<String> =
            items.into_iter().map(|item| format!("<li>{}</li>", escape(&item))).collect();
        if items.is_empty() { self } else { self.element("ul", &items.join("\n")) }
    }

    /// A table; its columns are aligned as on paper.
    pub fn table(&mut self, table: &Table) -> &mut Self {
        let html = table_html(table);
        self.element("div class=\"wide\"", &html)
    }

    /// An SVG document, as it is: whoever drew it has escaped its text.
    pub fn figure(&mut self, svg: &str) -> &mut Self {
        self.element("div class=\"wide\"", &format!("\n{}\n", svg.trim()))
    }

    /// A line at the foot of the page: what it is, and its text.
    pub fn footnote(&mut self, what: &str, text: &str) -> &mut Self {
        let _ = writeln!(self.footer, "<p>{}: <code>{}</code></p>", escape(what), escape(text));
        self
    }

    fn element(&mut self, tag: &str, content: &str) -> &mut Self {
        let name = tag.split_whitespace().next().unwrap_or(tag);
        let _ = writeln!(self.body, "<{tag}>{content}</{name}>");
        self
    }
}

impl Display for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { title, body, footer } = self;
        writeln!(f, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
        writeln!(f, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        writeln!(f, "<title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>")?;
        write!(f, "{body}")?;
        if !footer.is_empty() {
            write!(f, "<footer>\n{footer}</footer>\n")?;
        }
        writeln!(f, "</body>\n</html>")
    }
}

fn table_html(table: &Table) -> String {
    let right: Vec<bool> = (0..table.header().len()).map(|i| table.is_numeric(i)).collect();
    let row = |cells: &[String], tag: &str| {
        let mut html = String::from("<tr>");
        for (cell, right) in cells.iter().zip(&right) {
            let class = if *right { " class=\"number\"" } else { "" };
            let _ = write!(html, "<{tag}{class}>{}</{tag}>", escape(cell));
        }
        html + "</tr>\n"
    };
    let body: String = table.rows().iter().map(|cells| row(cells, "td")).collect();
    format!("<table>\n<thead>\n{}</thead>\n<tbody>\n{body}</tbody>\n</table>", row(table.header(), "th"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Every tag that is opened is closed, in order, and no `<`, `>` or `&` stands where it means nothing.
    pub(crate) fn assert_well_formed(html: &str) {
        let mut open: Vec<&str> = Vec::new();
        let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("the type of the document");
        while let Some(begin) = rest.find('<') {
            let text = &rest[..begin];
            // A style sheet has selectors, not text.
            assert!(open.last() == Some(&"style") || !text.contains('>'), "a lonely > in {text:?}");
            for entity in text.split('&').skip(1) {
                let name = entity.split_once(';').map(|(name, _)| name);
                assert!(name.is_some_and(|name| name.len() < 8 && !name.contains(' ')), "&{entity}");
            }
            let end = begin + rest[begin..].find('>').unwrap_or_else(|| panic!("an open < in {rest:?}"));
            let tag = &rest[begin + 1..end];
            assert_eq!(tag.matches('"').count() % 2, 0, "quotes of <{tag}>");
            let name =
                tag.trim_start_matches('/').split_whitespace().next().unwrap_or("").trim_end_matches('/');
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name), "closed by </{name}>");
            } else if !tag.ends_with('/') && name != "meta" {
                open.push(name);
            }
            rest = &rest[end + 1..];
        }
        assert!(open.is_empty(), "never closed: {open:?}");
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            escape("a < b & \"c\" > 'd'\u{7}"),
            "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;\u{fffd}"
        );
    }

    #[test]
    fn a_page_holds_what_it_is_given() {
        let mut table = Table::new(["method", "mean <rank>"]);
        table.row(["a&b", "1.50"]).row(["<script>", ""]);
        let mut page = Page::new("this & that");
        page.heading("Ranks").paragraph("p < 0.05").paragraph(" ").table(&table);
        page.figure("<svg width=\"1\"><rect x=\"0\"/></svg>\n").list(["x".into(), "y".into()]).list([]);
        page.footnote("command", "noregret bench --out 'a b'");
        let html = page.to_string();
        assert_well_formed(&html);
        for part in [
            "<title>this &amp; that</title>",
            "<h2>Ranks</h2>",
            "<p>p &lt; 0.05</p>",
            "<th class=\"number\">mean &lt;rank&gt;</th>",
            "<td>&lt;script&gt;</td><td class=\"number\"></td>",
            "<svg width=\"1\"><rect x=\"0\"/></svg>",
            "<li>y</li>",
            "<code>noregret bench --out &#39;a b&#39;</code>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert_eq!((html.matches("<ul>").count(), html.matches("<p>").count()), (1, 2));
    }

    #[test]
    #[should_panic(expected = "closed by </p>")]
    fn tags_out_of_order_are_noticed() {
        assert_well_formed("<!DOCTYPE html><p><b></p></b>");
    }
}
