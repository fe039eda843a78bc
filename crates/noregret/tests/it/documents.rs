//! What the documents list and what there is are the same.

use noregret::Algorithm;

const README: &str = include_str!("../../../../README.md");
const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// What stands under a heading.
fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let section = document.split_once(heading).map_or("", |(_, rest)| rest);
    section.split_once("\n##").map_or(section, |(section, _)| section)
}

/// Names in the first column of the tables under a heading.
fn first_column<'a>(document: &'a str, heading: &str) -> Vec<&'a str> {
    section(document, heading)
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect()
}

#[test]
fn the_readme_lists_every_algorithm() {
    let mut listed = first_column(README, "\n## Algorithms\n");
    let mut known: Vec<&str> = Algorithm::all().iter().map(|a| a.name).collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn the_guide_explains_every_option() {
    let gp_ei = Algorithm::by_name("gp-ei").unwrap();
    let options = serde_json::to_value(gp_ei).unwrap();
    let explained = first_column(GUIDE, "\n### The model\n");
    let known: Vec<&String> = options["model"].as_object().unwrap().keys().collect();
    for option in &known {
        assert!(explained.contains(&option.as_str()), "the guide does not explain `{option}`");
    }
    assert_eq!(explained.len(), known.len(), "{explained:?}");
    let network = options["model"]["ntk"].as_object().unwrap();
    let mut explained = first_column(GUIDE, "\n### The infinitely wide network\n");
    let mut known: Vec<&str> = network.keys().map(String::as_str).collect();
    explained.sort_unstable();
    known.sort_unstable();
    assert_eq!(explained, known);
    // Numbers, words and truth values stand in the second column as they are; of ranges, the start does.
    let sections =
        [section(GUIDE, "\n### The model\n"), section(GUIDE, "\n### The infinitely wide network\n")];
    let lines = sections.iter().flat_map(|section| section.lines());
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split('|').map(str::trim).collect()).collect();
    let others = options["model"].as_object().unwrap().iter().filter(|(option, _)| *option != "ntk");
    for (option, value) in others.chain(network) {
        let name = format!("`{option}`");
        let row = rows.iter().find(|row| row.get(1) == Some(&name.as_str())).unwrap();
        let word = row[2].split(", ").next().unwrap().trim_matches('`').replace(',', "");
        let start = value.get("start").unwrap_or(value);
        let same = match (start.as_f64(), word.parse::<f64>()) {
            (Some(default), Ok(written)) => default.to_bits() == written.to_bits(),
            _ => start.as_str().map_or(start.to_string(), str::to_owned) == word,
        };
        assert!(same, "the default of `{option}` is {start}, not {word}");
    }

    let explained = first_column(GUIDE, "\n### Networks\n");
    let network = serde_json::to_value(Algorithm::by_name("sto-bnts").unwrap()).unwrap();
    for option in network["network"].as_object().unwrap().keys() {
        assert!(explained.contains(&option.as_str()), "the guide does not explain `network.{option}`");
    }

    let explained = first_column(GUIDE, "\n### The forest\n");
    let forest = serde_json::to_value(Algorithm::by_name("random-forest").unwrap()).unwrap();
    let mut known: Vec<&str> = forest["forest"].as_object().unwrap().keys().map(String::as_str).collect();
    known.sort_by_key(|option| explained.iter().position(|explained| explained == option));
    assert_eq!(explained, known);

    let explained = first_column(GUIDE, "\n### Options\n");
    for algorithm in Algorithm::all() {
        for option in algorithm.options.as_object().unwrap().keys() {
            assert!(explained.contains(&option.as_str()), "the guide does not explain `{option}`");
        }
    }
}
