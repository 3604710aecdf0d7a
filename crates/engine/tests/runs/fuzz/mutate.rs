//! Mutates a text by a few random edits of a few kinds.

use crate::common::draws::Draws;
use cellyard_engine::registry::{Family, Kind};
use std::sync::LazyLock;

/// Longest text that an edit produces, in bytes.
const LONGEST: usize = 200_000;

/// Words of the format: names of families, components, parameters and choices, and other words.
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let components = Family::ALL.iter().flat_map(|family| family.components());
    let mut words: Vec<&str> = r#"true false nan inf unlimited none * 0x10 1_000 1979-05-27
        07:32:00 '' "" """ ''' [[ ]] {} [] = . # \u0000 \"#
        .split_whitespace()
        .collect();
    for component in components {
        words.extend([component.family.name(), component.name]);
        for parameter in component.parameters {
            words.push(parameter.name);
            if let Kind::Choice(choices) = parameter.kind {
                words.extend(choices.iter().map(|choice| choice.name));
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    words
});

/// Edge cases of numbers.
const NUMBERS: &str = "0 -0 1 -1 2 0.1 1.5 1e3 1e308 1e-308 1e400 5e-324 0.30000000000000004 \
    1/3 1/0 0/0 -1/2 255 65487 65488 65535 1000000 1000001 200000 200001 4294967295 4294967296 \
    9007199254740993 9223372036854775807 9223372036854775808 18446744073709551615 \
    18446744073709551616 99999999999999999999999 0.0000000000000000000001 00012 +5 .5 5. \
    1e ٣ １２";

const UNITS: &[&str] = &[
    "s", "ms", "us", "µs", "ns", "ps", "min", "h", "bps", "kbps", "Mbps", "Gbps", "Tbps", "Mb/s",
    "Mbit/s", "bit/s", "MB/s", "bytes", "B", "kB", "cells", "cell", "%", "", "MBPS", "Kelvin",
];

/// Troublesome characters: line ends, controls, direction marks, wide, combining and rare ones.
const CHARACTERS: &str = "\0\u{1}\u{7f}\u{1b}\r\n\t\u{85}\u{a0}\u{ad}\u{200b}\
    \u{202e}\u{2028}\u{2066}\u{feff}\u{fffd}\u{ffff}\u{10ffff}éßµμ中\u{301}😀\"'\\[]{}=#,.-$<*";

fn one_of<T: Copy>(all: impl Iterator<Item = T>, draws: &mut Draws) -> T {
    draws.one_of(&all.collect::<Vec<_>>())
}

/// A random position between two characters.
fn place(text: &str, draws: &mut Draws) -> usize {
    let mut at = draws.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A random range of at most `longest`.
fn range(text: &str, draws: &mut Draws, longest: usize) -> (usize, usize) {
    let start = place(text, draws);
    let mut end = (start + draws.below(longest + 1)).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (start, end)
}

/// Every range of `text` whose characters are all `inside`.
fn stretches(text: &str, inside: impl Fn(char) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (start, inside(c)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                found.push((from, at));
                start = None;
            }
            (Some(_), true) | (None, false) => {}
        }
    }
    found.extend(start.map(|from| (from, text.len())));
    found
}

fn put(text: &str, (start, end): (usize, usize), new: &str) -> String {
    format!("{}{new}{}", &text[..start], &text[end..])
}

fn bytes(text: &str, draws: &mut Draws) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=draws.below(6) {
        let at = draws.below(bytes.len());
        match draws.below(3) {
            _ if bytes.is_empty() => {}
            0 => bytes[at] ^= 1 << draws.below(8),
            1 => bytes.insert(at, draws.next() as u8),
            _ => drop(bytes.remove(at)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn characters(text: &str, draws: &mut Draws) -> String {
    let at = range(text, draws, 1);
    let new: String = (0..=draws.below(3))
        .map(|_| one_of(CHARACTERS.chars(), draws))
        .collect();
    put(text, at, &new)
}

fn token(text: &str, draws: &mut Draws) -> String {
    let word = |c: char| c.is_alphanumeric() || "_-./%\"*".contains(c);
    let found = stretches(text, word);
    if found.is_empty() {
        return draws.one_of(&WORDS).to_string();
    }
    let at = draws.one_of(&found);
    let other = draws.one_of(&found);
    let new = if draws.chance(50) {
        &text[other.0..other.1]
    } else {
        draws.one_of(&WORDS)
    };
    put(text, at, new)
}

fn number(text: &str, draws: &mut Draws) -> String {
    let found = stretches(text, |c| c.is_ascii_digit() || c == '.');
    if found.is_empty() {
        return text.to_string();
    }
    let at = draws.one_of(&found);
    let new = match draws.below(3) {
        0 => draws.magnitude(1, u64::MAX).to_string(),
        1 => draws.below(20).to_string(),
        _ => one_of(NUMBERS.split(' '), draws).to_string(),
    };
    put(text, at, &new)
}

fn unit(text: &str, draws: &mut Draws) -> String {
    let found = stretches(text, |c| c.is_alphabetic() || c == '/' || c == '%');
    let units: Vec<_> = found
        .into_iter()
        .filter(|&(a, b)| UNITS.contains(&&text[a..b]))
        .collect();
    if units.is_empty() {
        return text.to_string();
    }
    put(text, draws.one_of(&units), draws.one_of(UNITS))
}

fn lines(text: &str, draws: &mut Draws) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(1);
    let (a, b) = (draws.below(lines.len()), draws.below(lines.len() + 1));
    match draws.below(4) {
        _ if lines.is_empty() => {}
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a]),
        2 => lines.swap(a, b.min(last)),
        _ => lines.rotate_left(a),
    }
    lines.join("\n") + "\n"
}

fn key(text: &str, draws: &mut Draws) -> String {
    let ends: Vec<usize> = text.match_indices(" =").map(|(at, _)| at).collect();
    if ends.is_empty() {
        return text.to_string();
    }
    let end = draws.one_of(&ends);
    let start = text[..end]
        .rfind([' ', '\n', '{', ','])
        .map_or(0, |at| at + 1);
    let old = &text[start..end];
    let new = match draws.below(4) {
        0 => draws.one_of(&WORDS).to_string(),
        1 => bytes(old, draws),
        2 => format!("{old}.{}", draws.one_of(&WORDS)),
        _ => format!("\"{old}\""),
    };
    put(text, (start, end), &new)
}

fn nesting(text: &str, draws: &mut Draws) -> String {
    let starts: Vec<usize> = text.match_indices("= ").map(|(at, _)| at + 2).collect();
    if starts.is_empty() {
        return text.to_string();
    }
    let start = draws.one_of(&starts);
    let end = text[start..]
        .find(['\n', ','])
        .map_or(text.len(), |at| start + at);
    let depth = draws.magnitude(1, 3_000) as usize;
    let (open, close) = draws.one_of(&[
        ("[", "]"),
        ("{ a = ", " }"),
        ("{ kind = ", " }"),
        ("[[", "]]"),
        ("[", ""),
    ]);
    let new = format!(
        "{}{}{}",
        open.repeat(depth),
        &text[start..end],
        close.repeat(depth)
    );
    put(text, (start, end), &new)
}

fn length(text: &str, draws: &mut Draws) -> String {
    let at = range(text, draws, 40);
    let piece = &text[at.0..at.1];
    let times = draws.magnitude(2, 4_000) as usize;
    put(
        text,
        at,
        &piece.repeat(times.min(LONGEST / 4 / piece.len().max(1))),
    )
}

fn cut(text: &str, draws: &mut Draws) -> String {
    match draws.below(3) {
        0 => text[..place(text, draws)].to_string(),
        1 => text[place(text, draws)..].to_string(),
        _ => put(text, range(text, draws, 300), ""),
    }
}

fn splice(text: &str, other: &str, draws: &mut Draws) -> String {
    let (start, end) = range(other, draws, 600);
    let at = place(text, draws);
    put(text, (at, at), &other[start..end])
}

/// Applies one to seven edits to `text`, usually few. `others` supply pieces.
pub fn spoil(text: &str, others: &[String], draws: &mut Draws) -> String {
    let mut text = text.to_string();
    loop {
        text = match draws.below(11) {
            0 => bytes(&text, draws),
            1 => characters(&text, draws),
            2 => token(&text, draws),
            3 | 4 => number(&text, draws),
            5 => unit(&text, draws),
            6 => lines(&text, draws),
            7 => key(&text, draws),
            8 if draws.chance(30) => nesting(&text, draws),
            9 if draws.chance(30) => length(&text, draws),
            8 | 9 => token(&text, draws),
            _ if draws.chance(50) => cut(&text, draws),
            _ => splice(&text, &others[draws.below(others.len())], draws),
        };
        if draws.chance(55) || text.len() > LONGEST {
            return text;
        }
    }
}

/// Random override paths and values. Some are valid.
pub fn overrides(draws: &mut Draws) -> Vec<(String, String)> {
    const PATHS: &[&str] = &[
        "duration",
        "seed",
        "name",
        "vc.0.start",
        "vc.*.traffic.mss",
        "vc.traffic.recovery",
        "switch.west.ubr.buffer",
        "link.rate",
        "link.0.delay",
        "measure.window",
        "host.count",
        "vc.count",
        "link.*.lose_probability",
        "switch.*.ubr.drop",
        "probe.0.interval",
        "vc.0.route",
        "vc.vc1.start",
        "vc.vc2.traffic",
        "vc.vc2.route",
        "host.source2.processing",
        "link.source2->west.rate",
        "link.trunk.rate",
        "vc.9",
        "",
        ".",
        "..",
        "vc.-1",
        "vc.99999999999999999999",
        "link.*.*",
        "nothing.at.all",
    ];
    let value = |draws: &mut Draws| match draws.below(5) {
        0 => format!(
            "{} {}",
            one_of(NUMBERS.split(' '), draws),
            draws.one_of(UNITS)
        ),
        1 => draws.one_of(&WORDS).to_string(),
        2 => one_of(NUMBERS.split(' '), draws).to_string(),
        3 => format!("{} ms", draws.magnitude(1, 100_000)),
        _ => format!("{{ kind = \"{}\" }}", draws.one_of(&WORDS)),
    };
    let one = |draws: &mut Draws| {
        let mut path = draws.one_of(PATHS).to_string();
        if draws.chance(30) {
            path = bytes(&path, draws);
        }
        let mut value = value(draws);
        if draws.chance(20) {
            value = characters(&value, draws);
        }
        (path, value)
    };
    (0..=draws.below(2)).map(|_| one(draws)).collect()
}
