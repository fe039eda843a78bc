//! The page itself: what `npm run build` made in `dashboard/dist`, embedded when this crate was built.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::GzDecoder;

/// A file of the bundle.
#[derive(Debug)]
pub struct Embedded {
    /// Its path in the bundle, such as `assets/app-0123.js`.
    pub name: &'static str,
    bytes: &'static [u8],
    /// Whether `bytes` are compressed by gzip.
    packed: bool,
}

/// All files.
static FILES: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

/// The page where there is none.
static HOW_TO_BUILD: Embedded =
    Embedded { name: "index.html", bytes: include_bytes!("unbuilt.html"), packed: false };

/// Where a report's data go.
const DATA: &str = "__NOREGRET_DATA__";

/// A file of the bundle by its path. There is always an `index.html`.
pub fn file(name: &str) -> Option<&'static Embedded> {
    let found = FILES.iter().find(|file| file.name == name);
    found.or_else(|| (name == HOW_TO_BUILD.name).then_some(&HOW_TO_BUILD))
}

/// Whether the page was built with this binary.
pub fn is_built() -> bool {
    FILES.iter().any(|file| file.name == "index.html")
}

/// A report with these data (JSON) in it; `None` if the page was not built with this binary.
pub fn report(data: &str) -> Option<String> {
    let page = FILES.iter().find(|file| file.name == "report.html")?;
    let page = String::from_utf8(page.plain().into_owned()).ok()?;
    let (before, after) = page.split_once(DATA)?;
    Some(format!("{before}{}{after}", in_script(data)))
}

/// JSON that a script element can hold: no tag ends or begins in it.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

impl Embedded {
    /// Its bytes as gzip has them, if they are kept so.
    pub fn packed(&self) -> Option<&'static [u8]> {
        self.packed.then_some(self.bytes)
    }

    /// Its bytes.
    pub fn plain(&self) -> Cow<'static, [u8]> {
        if !self.packed {
            return Cow::Borrowed(self.bytes);
        }
        let mut plain = Vec::new();
        // What was compressed when this was built can be read.
        let _ = GzDecoder::new(self.bytes).read_to_end(&mut plain);
        Cow::Owned(plain)
    }

    /// Its type, by its name.
    pub fn content_type(&self) -> &'static str {
        match self.name.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "woff2" => "font/woff2",
            "json" => "application/json",
            _ => "application/octet-stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_page() {
        let page = String::from_utf8(file("index.html").unwrap().plain().into_owned()).unwrap();
        assert!(page.contains("<html"), "{page}");
        assert!(is_built() || page.contains("npm run build"));
        assert!(file("../Cargo.toml").is_none() && file("").is_none());
    }

    #[test]
    fn data_end_no_script() {
        assert_eq!(in_script(r#"{"note":"</script><b>"}"#), r#"{"note":"\u003c/script>\u003cb>"}"#);
        if is_built() {
            let report = report(r#"{"note":"</script>"}"#).unwrap();
            assert!(report.contains(r"\u003c/script>") && !report.contains(DATA));
        }
    }
}
