//! The table of capabilities: a row for each id of the documents that the library follows, and tests
//! that name it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the table stands.
const TABLE: &str = "docs/capabilities.md";

/// The documents' letters, and how many ids each has.
const DOCUMENTS: &[(&str, usize)] = &[("SG", 11), ("DL", 34), ("LP", 18), ("AC", 62)];

/// What is wrong with the table: an id without a row or with two, a test that is not there or does not
/// name the id, an id that tests name and the row does not say so.
pub fn check(root: &Path, sources: &[PathBuf]) -> Vec<String> {
    let Ok(table) = fs::read_to_string(root.join(TABLE)) else {
        return vec![format!("{TABLE} is missing")];
    };
    let tests = tests(sources);
    let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        rows.entry(cells[0]).or_default().push(cells.last().copied().unwrap_or_default());
    }
    let mut out = Vec::new();
    for (letters, count) in DOCUMENTS {
        for n in 1..=*count {
            let id = format!("{letters}-{n:02}");
            match rows.get(id.as_str()).map(Vec::as_slice) {
                Some([cell]) => out.extend(check_row(&id, cell, &tests)),
                other => {
                    out.push(format!("{TABLE} has {} rows of {id}", other.map_or(0, <[_]>::len)))
                }
            }
        }
    }
    out
}

fn check_row(id: &str, cell: &str, tests: &BTreeMap<String, String>) -> Vec<String> {
    let named: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    if named.is_empty() && tests.values().any(|text| text.contains(id)) {
        return vec![format!("{TABLE} says no test of {id}, and there are some")];
    }
    let names = |test: &&str| tests.get(*test).is_some_and(|text| text.contains(id));
    let wrong = named.into_iter().filter(|test| !names(test));
    wrong.map(|test| format!("{TABLE} says that {test} tests {id}: it does not name it")).collect()
}

/// The texts of files that hold tests, by their names; a Rust test of several files goes by its folder.
fn tests(sources: &[PathBuf]) -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    for path in sources {
        let extension = path.extension().and_then(|e| e.to_str());
        let text = fs::read_to_string(path).unwrap_or_default();
        let holds = match extension {
            Some("scala") => text.contains("test(\""),
            Some("rs") => text.contains("#[test]"),
            _ => false,
        };
        let stem = |p: &Path| p.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        if holds {
            let folder = path.parent().map(stem).unwrap_or_default();
            let rust_folder = extension == Some("rs") && folder != "tests" && folder != "src";
            let name = if rust_folder { folder + "::" + &stem(path) } else { stem(path) };
            out.entry(name).or_default().push_str(&text);
        }
    }
    out
}
