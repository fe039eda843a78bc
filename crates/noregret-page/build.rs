//! Embeds the page, if it was built.
//!
//! `dashboard/dist` is made by `npm run build`; of each file only its compressed form is kept, where there is one. Without it everything
//! builds, and the page says how to build it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dashboard/dist");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", watched(&dist).display());
    let mut list = vec!["&[".to_owned()];
    let mut files = Vec::new();
    for folder in [dist.clone(), dist.join("assets")] {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()));
    }
    files.sort();
    for path in &files {
        let Some(name) = path.strip_prefix(&dist).ok().and_then(Path::to_str) else { continue };
        // Its plain form is not needed.
        let is_packed = files.contains(&PathBuf::from(format!("{}.gz", path.display())));
        if is_packed || path.extension().is_some_and(|kind| kind == "map") {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let (name, packed) = name.strip_suffix(".gz").map_or((name, false), |name| (name, true));
        let path = fs::canonicalize(path)?;
        let path = path.display().to_string();
        list.push(format!(
            "    Embedded {{ name: {name:?}, bytes: include_bytes!({path:?}), packed: {packed} }},"
        ));
    }
    list.push("]\n".to_owned());
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::File::create(out.join("bundle.rs"))?.write_all(list.join("\n").as_bytes())
}

/// The folder whose changes matter: the nearest one that exists, so that a bundle that is made later is noticed.
fn watched(dist: &Path) -> PathBuf {
    let exists = |path: &&Path| path.is_dir();
    dist.ancestors().take(2).find(exists).unwrap_or(dist).to_owned()
}
