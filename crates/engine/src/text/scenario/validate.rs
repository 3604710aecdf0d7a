//! Rules between the fields of one component.
//!
//! Each rule applies to every component of its family that has the fields. `expand`, `flows` and
//! `probes` hold the rules between components.

use super::program::{Asked, WrittenPolicy, WrittenScheduler};
use super::record::{Record, complete, fraction, is_left_out, join, number, object, text};
use super::report::Report;
use super::threshold::{Size, Threshold, Unit};
use super::tree::Field;
use crate::ground::units::{BitRate, Ratio, Span};
use crate::text::notation::show::{show_bytes, show_cells, show_duration, show_rate, show_ratio};
use crate::text::program::lex::{Token, tokens};
use crate::text::program::names::{DROP, Dialect, Known, SCHEDULER, VERDICTS};
use crate::text::program::parse::fault_of_parameter;
use crate::text::program::{self, MOST_PARAMETERS, Program, Verdict};
use crate::text::registry::{Component, Family, Kind};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Checks the rules of `component` that apply to the fields in `record`.
pub(crate) fn component(component: &Component, record: &Record, path: &str, report: &mut Report) {
    match component.family {
        Family::Scenario => measured_time(record, report),
        Family::Format => carried(record, path, report),
        Family::Host => frames_only(record, path, report),
        Family::Queue => {
            thresholds(record, path, report);
            reserve(record, path, report);
            scale(record, path, report);
            lower(record, path, report);
            averaged(record, path, report);
            alpha(record, path, report);
        }
        Family::Drop => {
            weights(record, path, report);
            if component.own.is_some() {
                policy(component, record, path, report);
            }
        }
        Family::Scheduler => {
            turns(record, path, report);
            if component.own.is_some() {
                scheduler(component, record, path, report);
            }
        }
        Family::Traffic => {
            frames_only(record, path, report);
            window(record, path, report);
            timeouts(record, path, report);
            files(record, path, report);
            amplitude(record, path, report);
            pause(record, path, report);
            handshake(record, path, report);
            packet(record, path, report);
        }
        Family::Vc => {
            stop(record, path, report);
            guarantee(record, path, report);
        }
        Family::Contract => contract(record, path, report),
        Family::Abr => end_systems(record, path, report),
        Family::Feedback => feedback(record, path, report),
        Family::Processing => spread(record, path, report),
        Family::Probe => sampling(record, path, report),
        Family::Measure
        | Family::Ensemble
        | Family::Switch
        | Family::Link
        | Family::Pool
        | Family::Change
        | Family::Police
        | Family::Shape => {}
    }
}

fn show(ticks: u64, report: &Report) -> String {
    show_duration(Span(ticks), report.format.clock)
}

fn measured_time(record: &Record, report: &mut Report) {
    let measure = object(record, "measure");
    let (Some(duration), Some(measure)) = (number(record, "duration"), measure) else {
        return;
    };
    let Some(warm_up) = number(measure, "warm_up") else {
        return;
    };
    if warm_up >= duration {
        report.add(
            "measure.warm_up",
            format!(
                "leaves no time to measure in a run of {}",
                show(duration, report)
            ),
            "less than the duration",
            None,
        );
    } else if let Some(window) = number(measure, "window").filter(|w| warm_up + w > duration) {
        let both = show(warm_up + window, report);
        report.add(
            "measure.window",
            format!("ends after the run: warm-up and window together last {both}"),
            format!("together at most {}, the duration", show(duration, report)),
            None,
        );
    }
}

/// A cell cannot carry more than it is long.
fn carried(record: &Record, path: &str, report: &mut Report) {
    if let (Some(cell), Some(carries)) = (number(record, "cell"), number(record, "carries"))
        && carries > cell
    {
        report.add(
            &join(path, "carries"),
            format!("is {}, above the cell", show_bytes(carries)),
            format!("at most {}, the cell", show_bytes(cell)),
            None,
        );
    }
}

/// The option of a SYN must not add a cell to it.
fn handshake(record: &Record, path: &str, report: &mut Report) {
    let given = record.get("handshake").and_then(Value::as_bool);
    if given == Some(true) && !report.format.syn_is_like_ack() {
        report.add(
            &join(path, "handshake"),
            "needs frames that take more cells than an ACK, for the option with the MSS",
            "false, or larger `carries`",
            None,
        );
    }
}

/// The credit of a guarantee counts slots of one length (model section 6).
fn guarantee(record: &Record, path: &str, report: &mut Report) {
    if number(record, "guarantee").is_some() && report.format.is_ethernet {
        report.add(
            &join(path, "guarantee"),
            "counts slots of one length, and packets of the format ethernet differ",
            "another format, or `weight`",
            None,
        );
    }
}

/// Only packets of the format `ethernet` differ in bytes.
fn turns(record: &Record, path: &str, report: &mut Report) {
    if text(record, "unit") == Some("byte") && !report.format.is_ethernet {
        report.add(
            &join(path, "unit"),
            "counts bytes of packets, but all cells of this format have the same number",
            "cell or frame, or `format = \"ethernet\"`",
            None,
        );
    }
}

/// A packet, which no format fragments, must not be too long.
fn packet(record: &Record, path: &str, report: &mut Report) {
    let (format, longest) = (report.format, report.format.most_packet());
    let [segment, datagram] = format.most_data();
    for (field, most) in [("mss", segment), ("datagram_size", datagram)] {
        if let Some(bytes) = number(record, field).filter(|&bytes| bytes > most) {
            let mut allowed = format!("at most {}", show_bytes(most));
            if format.is_ethernet {
                let mtu = show_bytes(bytes + longest - most);
                allowed += &format!(", or format = {{ kind = \"ethernet\", mtu = \"{mtu}\" }}");
            }
            let limit = if format.is_ethernet { ", the MTU" } else { "" };
            report.add(
                &join(path, field),
                format!(
                    "is {}, too much for a packet of {}{limit}, with its headers",
                    show_bytes(bytes),
                    show_bytes(longest)
                ),
                allowed,
                None,
            );
        }
    }
}

/// Processing of hosts and transports is per frame.
fn frames_only(record: &Record, path: &str, report: &mut Report) {
    let processing = object(record, "processing");
    if processing.and_then(|p| text(p, "per")) == Some("cell") {
        report.add(
            &join(path, "processing.per"),
            "only a switch can process cell by cell",
            "frame",
            None,
        );
    }
}

fn spread(record: &Record, path: &str, report: &mut Report) {
    if let (Some(mean), Some(spread)) = (number(record, "mean"), number(record, "spread"))
        && spread > mean
    {
        report.add(
            &join(path, "spread"),
            "is larger than the mean, so some times would be negative",
            format!("at most the mean, {}", show(mean, report)),
            None,
        );
    }
}

fn stop(record: &Record, path: &str, report: &mut Report) {
    if let (Some(start), Some(stop)) = (number(record, "start"), number(record, "stop"))
        && stop <= start
    {
        report.add(
            &join(path, "stop"),
            "is not after the start, so nothing would be sent",
            format!("later than {}, the start; or left out", show(start, report)),
            None,
        );
    }
}

/// Rates of a contract must be consistent, and a burst size needs one of them.
fn contract(record: &Record, path: &str, report: &mut Report) {
    if excludes(record, path, "mcr", "scr", report) {
        return;
    }
    for name in ["scr", "mcr"] {
        if let (Some(rate), Some(pcr)) = (number(record, name), number(record, "pcr"))
            && rate > pcr
        {
            report.add(
                &join(path, name),
                format!("is {}, above the peak rate", show_rate(BitRate(rate))),
                format!("at most {}, the pcr", show_rate(BitRate(pcr))),
                None,
            );
        }
    }
    let left_out = |name| is_left_out(record, name);
    if ["pcr", "scr", "mcr"].into_iter().all(left_out) {
        report.add(
            path,
            "sets no rate, so it would have no effect",
            "a contract with `pcr`, `scr` or `mcr`, or none",
            None,
        );
        return;
    }
    if !left_out("mbs") && left_out("scr") && left_out("mcr") {
        report.add(
            &join(path, "mbs"),
            "has no effect without a sustained rate",
            "only with `scr` or `mcr`",
            None,
        );
    }
}

/// Rates of ABR end systems must be in order, and Nrm a power of 2.
fn end_systems(record: &Record, path: &str, report: &mut Report) {
    let rate = |name| number(record, name).map(BitRate);
    let (pcr, mcr, icr) = (rate("pcr"), rate("mcr"), rate("icr"));
    for (name, rate) in [("mcr", mcr), ("icr", icr)] {
        if let (Some(rate), Some(pcr)) = (rate, pcr)
            && rate > pcr
        {
            report.add(
                &join(path, name),
                format!("is {}, above the peak rate", show_rate(rate)),
                format!("at most {}, the pcr", show_rate(pcr)),
                None,
            );
            return;
        }
    }
    if let (Some(mcr), Some(icr)) = (mcr, icr)
        && icr < mcr
    {
        report.add(
            &join(path, "icr"),
            format!("is {}, below the minimum rate", show_rate(icr)),
            format!("at least {}, the mcr", show_rate(mcr)),
            None,
        );
    }
    if let Some(nrm) = number(record, "nrm").filter(|nrm| !nrm.is_power_of_two()) {
        report.add(
            &join(path, "nrm"),
            format!("is {nrm}, not a power of 2"),
            "2, 4, 8, 16, 32, 64, 128 or 256",
            None,
        );
    }
}

/// Rejects bounds at which feedback would be meaningless, although the registry includes them.
fn feedback(record: &Record, path: &str, report: &mut Report) {
    let mut bound = |name: &str, is_out: fn(Ratio) -> bool, message: &str, allowed: &str| {
        if record.get(name).and_then(fraction).is_some_and(is_out) {
            report.add(&join(path, name), message, allowed, None);
        }
    };
    bound(
        "target",
        |u| u.num == 0,
        "is 0, so no VC could send",
        "above 0, at most 1",
    );
    for name in ["load_decay", "active_decay"] {
        let never = "is 1, so new measurements would have no effect";
        bound(
            name,
            |decay| decay.num >= decay.den,
            never,
            "at least 0, below 1",
        );
    }
    for name in ["a", "b"] {
        let flat = "is 1, so the target would not depend on the queue";
        bound(name, |factor| factor.num <= factor.den, flat, "above 1");
    }
    if number(record, "t0") == Some(0) {
        let message = "must be above 0";
        report.add(&join(path, "t0"), message, "a time above 0 s", None);
    }
    if let (Some(low), Some(high)) = (number(record, "low"), number(record, "high"))
        && low > high
    {
        report.add(
            &join(path, "low"),
            format!("is {}, above `high`", show_cells(low)),
            format!("at most {}", show_cells(high)),
            None,
        );
    }
}

/// Whether `field` and `other`, which exclude each other, are both given.
fn excludes(record: &Record, path: &str, field: &str, other: &str, report: &mut Report) -> bool {
    let given = |name| record.get(name).is_some_and(|value| !value.is_null());
    let both = given(field) && given(other);
    if both {
        let message = format!("cannot be combined with `{other}`");
        report.add(&join(path, field), message, "one of the two", None);
    }
    both
}

fn sampling(record: &Record, path: &str, report: &mut Report) {
    let _ = excludes(record, path, "every", "interval", report)
        || excludes(record, path, "envelope", "interval", report)
        || excludes(record, path, "envelope", "every", report);
}

fn window(record: &Record, path: &str, report: &mut Report) {
    if let (Some(mss), Some(rwnd)) = (number(record, "mss"), number(record, "rwnd"))
        && rwnd < mss
    {
        report.add(
            &join(path, "rwnd"),
            "is smaller than one segment, so nothing could be sent",
            format!("at least {}, the mss", show_bytes(mss)),
            None,
        );
    }
}

fn timeouts(record: &Record, path: &str, report: &mut Report) {
    let by_default = |name: &str, report: &Report| match report.is_written(&join(path, name)) {
        true => "",
        false => " by default",
    };
    if let (Some(rto), Some(tick)) = (number(record, "min_rto"), number(record, "granularity"))
        && rto < tick
    {
        report.add(
            &join(path, "min_rto"),
            format!(
                "is {}{}, below one tick of the timer",
                show(rto, report),
                by_default("min_rto", report)
            ),
            format!("at least {}, the granularity", show(tick, report)),
            None,
        );
    }
    for name in ["min_rto", "initial_rto"] {
        if let (Some(rto), Some(max)) = (number(record, name), number(record, "max_rto"))
            && rto > max
        {
            report.add(
                &join(path, name),
                format!(
                    "is {}{}, above max_rto",
                    show(rto, report),
                    by_default(name, report)
                ),
                format!("at most {}", show(max, report)),
                None,
            );
        }
    }
}

/// Options about files need a file size.
fn files(record: &Record, path: &str, report: &mut Report) {
    if !is_left_out(record, "file_size") {
        return;
    }
    let gap = number(record, "file_gap").is_some_and(|gap| gap > 0);
    let several = is_left_out(record, "files") || number(record, "files").is_some_and(|n| n > 1);
    for (name, given) in [("files", several), ("file_gap", gap)] {
        if given {
            report.add(
                &join(path, name),
                "has no effect without `file_size`: the source does not send files",
                "only with `file_size`",
                None,
            );
        }
    }
}

fn amplitude(record: &Record, path: &str, report: &mut Report) {
    if excludes(record, path, "amplitude", "rate", report) {
        return;
    }
    let amplitude = record.get("amplitude").and_then(fraction);
    if amplitude.is_some_and(|a| a.num == 0) {
        report.add(
            &join(path, "amplitude"),
            "must be above 0",
            "a fraction above 0, at most 1",
            None,
        );
    }
}

/// A pause needs a burst that ends.
fn pause(record: &Record, path: &str, report: &mut Report) {
    if is_left_out(record, "on")
        && let Some(off) = number(record, "off").filter(|&off| off > 0)
    {
        report.add(
            &join(path, "off"),
            format!(
                "is {}, but a burst never ends without `on`",
                show(off, report)
            ),
            "only with `on`, the length of a burst",
            None,
        );
    }
}

/// Whether the parameters of a program are possible in `dialect`.
fn has_parameters(
    component: &Component,
    dialect: &Dialect,
    record: &Record,
    path: &str,
    report: &mut Report,
) -> bool {
    let is_own = |name: &&String| {
        component.parameter(name).is_none() && component.family.tag() != Some(name.as_str())
    };
    let own: Vec<&String> = record.keys().filter(is_own).collect();
    for name in &own {
        if let Some(fault) = fault_of_parameter(name, dialect) {
            report.add(&join(path, name), fault, "another name", None);
            return false;
        }
    }
    if own.len() > MOST_PARAMETERS {
        let message = format!("has {} parameters", own.len());
        report.add(path, message, format!("at most {MOST_PARAMETERS}"), None);
        return false;
    }
    true
}

/// The fields of `record` without the name of its component, next to which stand parameters of any
/// name.
fn untagged<T: DeserializeOwned>(component: &Component, record: &Record) -> Option<T> {
    let mut fields = record.clone();
    fields.retain(|field, _| component.family.tag() != Some(field.as_str()));
    complete(&Value::Object(fields))
}

/// Whether a text of the program with these fields uses `name`. True for a text with a character
/// that the language lacks.
pub(crate) fn uses(component: &Component, fields: &[Field], name: &str) -> bool {
    let is_text = |field: &&Field| {
        let parameter = component.parameter(&field.name);
        parameter.is_some_and(|p| matches!(p.kind, Kind::Program))
    };
    let texts = fields.iter().filter(is_text);
    let mut texts = texts.filter_map(|field| field.node.text());
    texts.any(|text| {
        tokens(text).map_or(true, |all| all.iter().any(|t| t.token == Token::Word(name)))
    })
}

/// Reports a parameter of a program that it does not use.
pub(crate) fn unused_parameter(component: &Component, name: &str, path: &str, report: &mut Report) {
    let fields = component.parameters.iter().map(|p| p.name);
    let suggestion = report.suggest(name, fields);
    let texts = match component.family {
        Family::Scheduler => "texts use",
        _ => "text uses",
    };
    let allowed = format!(
        "the fields of `{}`, and names that its {texts}",
        component.name
    );
    report.add(
        &join(path, name),
        "unused parameter: the program does not read it",
        allowed,
        suggestion,
    );
}

/// A scheduler must have texts without mistakes, whose parameters are all used.
fn scheduler(component: &Component, record: &Record, path: &str, report: &mut Report) {
    if !has_parameters(component, &SCHEDULER, record, path, report) {
        return;
    }
    let Some(written) = untagged::<WrittenScheduler>(component, record) else {
        return;
    };
    for (name, value) in &written.parameters {
        if let program::Value::Fraction(_) = value {
            report.add(
                &join(path, name),
                "a scheduler has no buffer to be a fraction of",
                "a number, cells, a time or a rate",
                None,
            );
            return;
        }
    }
    match written.read() {
        Ok(ranking) => {
            for name in &ranking.rank.unused_parameters {
                unused_parameter(component, name, path, report);
            }
        }
        Err((which, mistake)) => {
            let at = join(path, which.field());
            report.add_mistake(&at, written.text(which), mistake);
        }
    }
}

/// A program must have one text without mistakes, whose parameters are all used.
fn policy(component: &Component, record: &Record, path: &str, report: &mut Report) {
    if !has_parameters(component, &DROP, record, path, report) {
        return;
    }
    if excludes(record, path, "program", "refuse", report) {
        return;
    }
    if is_left_out(record, "program") && is_left_out(record, "refuse") {
        let allowed = "a condition, or `program` with statements";
        report.add(&join(path, "refuse"), "is missing", allowed, None);
        return;
    }
    let Some(written) = untagged::<WrittenPolicy>(component, record) else {
        return;
    };
    let field = if written.program.is_some() {
        "program"
    } else {
        "refuse"
    };
    let at = join(path, field);
    let program = match written.read() {
        Ok(program) => program,
        Err(mistake) => return report.add_mistake(&at, written.text(), mistake),
    };
    for name in &program.unused_parameters {
        unused_parameter(component, name, path, report);
    }
    if written.asked == Asked::Frames {
        frames_asked(&program, &written, &at, path, report);
    }
}

/// What only a program that is asked about cells can do.
fn frames_asked(
    program: &Program,
    written: &WrittenPolicy,
    at: &str,
    path: &str,
    report: &mut Report,
) {
    let of_frames = [Verdict::Accept, Verdict::Refuse];
    if let Some(verdict) = program
        .uses
        .verdicts
        .iter()
        .find(|v| !of_frames.contains(v))
    {
        let word = VERDICTS.iter().find(|(_, of, _)| of == verdict);
        let word = word.map_or("", |(word, ..)| *word);
        let message = format!("has the verdict `{word}`, which is about one cell");
        report.add(at, message, "accept and refuse, or asked = \"cells\"", None);
    }
    if program.uses.knows(Known::Idle) {
        let message = "uses `idle`, but is asked only while the port is busy";
        report.add(at, message, "with asked = \"cells\"", None);
    }
    if written.never_below.is_some() && (program.uses.draws || !program.states.is_empty()) {
        report.add(
            &join(path, "never_below"),
            "would leave it open whether a program with state or draws is asked there",
            "begin the program with `if X <= R { accept }` instead",
            None,
        );
    }
}

/// The buffer of a queue, if it is limited.
fn buffer(record: &Record) -> Option<Size> {
    complete(record.get("buffer")?)
}

/// The places of a buffer, if they do not depend on the port.
fn known(size: Size) -> Option<u64> {
    match size {
        Size::Cells(places) | Size::Bytes { bytes: places } => Some(places),
        Size::Time { .. } => None,
    }
}

/// The places of a threshold, in the unit of the buffer; `None` if that is another, or unknown.
fn places_of(threshold: &Value, buffer: Option<Size>) -> Option<u64> {
    match complete(threshold)? {
        Threshold::Cells(cells) => buffer
            .is_none_or(|k| k.unit() == Unit::Cells)
            .then_some(cells),
        Threshold::Bytes(bytes) => buffer
            .is_none_or(|k| k.unit() == Unit::Bytes)
            .then_some(bytes),
        Threshold::Fraction(part) => Some(part.floor_of(known(buffer?)?)),
    }
}

/// A number of places as a scenario writes it, in the unit of `buffer`.
fn show_places(places: u64, buffer: Option<Size>) -> String {
    match buffer.map(Size::unit) {
        Some(Unit::Bytes) => show_bytes(places),
        Some(Unit::Cells) | None => show_cells(places),
    }
}

/// Thresholds in cells must lie within the buffer; [`super::places`] has those in bytes.
fn thresholds(record: &Record, path: &str, report: &mut Report) {
    let (Some(drop), Some(Size::Cells(buffer))) = (object(record, "drop"), buffer(record)) else {
        return;
    };
    let policy = text(drop, "policy").and_then(|name| Family::Drop.find(name));
    for parameter in policy.map_or(&[][..], |policy| policy.parameters) {
        let cells = drop.get(parameter.name).and_then(|t| t["cells"].as_u64());
        // [`reserve`] is about the other one.
        let is_threshold = matches!(parameter.kind, Kind::Threshold) && parameter.name != "reserve";
        if is_threshold && cells.is_some_and(|c| c > buffer) {
            let at = join(path, &format!("drop.{}", parameter.name));
            let by_default = if report.is_written(&at) {
                String::new()
            } else {
                format!(" = {} by default, which", parameter.default_text())
            };
            report.add(
                &at,
                format!(
                    "{}{by_default} is above the buffer K = {}",
                    parameter.symbol(),
                    show_cells(buffer)
                ),
                "at most the buffer",
                None,
            );
        }
    }
}

/// The reserve in cells must leave a threshold within the buffer; [`super::places`] has that in
/// bytes.
fn reserve(record: &Record, path: &str, report: &mut Report) {
    let (Some(drop), Some(Size::Cells(buffer))) = (object(record, "drop"), buffer(record)) else {
        return;
    };
    if is_left_out(drop, "threshold")
        && let Some(reserve) = drop
            .get("reserve")
            .and_then(|reserve| reserve["cells"].as_u64())
            .filter(|&reserve| reserve > buffer)
    {
        let at = join(path, "drop.reserve");
        report.add(
            &at,
            format!(
                "is {}, more than the buffer of {}",
                show_cells(reserve),
                show_cells(buffer)
            ),
            "at most the buffer, or set `threshold` instead",
            None,
        );
    }
}

/// Weights and probabilities of RED must have an effect.
fn weights(record: &Record, path: &str, report: &mut Report) {
    for (name, message) in [
        ("w_q", "is 0, so the average queue would never change"),
        ("max_p", "is 0, so nothing would be dropped below max_th"),
    ] {
        let value = record.get(name).and_then(fraction);
        if value.is_some_and(|value| value.num == 0) {
            report.add(&join(path, name), message, "above 0, at most 1", None);
        }
    }
}

/// The thresholds of RED must leave a part of the curve between them.
fn averaged(record: &Record, path: &str, report: &mut Report) {
    let Some(drop) = object(record, "drop") else {
        return;
    };
    let (Some(min), Some(max)) = (drop.get("min_th"), drop.get("max_th")) else {
        return;
    };
    // Compare in a unit in which both are known: places, or fractions of the buffer.
    let buffer = buffer(record);
    let cells = |threshold: &Value| match complete(threshold)? {
        Threshold::Fraction(part) => {
            let k = known(buffer?)?;
            Some([u128::from(part.num) * u128::from(k), part.den.into()])
        }
        Threshold::Cells(_) | Threshold::Bytes(_) => {
            Some([places_of(threshold, buffer)?.into(), 1])
        }
    };
    let part = |threshold: &Value| {
        let part = fraction(&threshold["fraction"])?;
        Some([part.num.into(), part.den.into()])
    };
    let both = cells(min)
        .zip(cells(max))
        .or_else(|| part(min).zip(part(max)));
    if let Some(([min_num, min_den], [max_num, max_den])) = both
        && min_num * max_den >= max_num * min_den
    {
        report.add(
            &join(path, "drop.min_th"),
            format!(
                "is {}, not below max_th = {}",
                show_threshold(min),
                show_threshold(max)
            ),
            "below max_th",
            None,
        );
    }
}

/// A threshold as a scenario writes it.
fn show_threshold(threshold: &Value) -> String {
    match complete(threshold) {
        Some(Threshold::Cells(cells)) => show_cells(cells),
        Some(Threshold::Bytes(bytes)) => show_bytes(bytes),
        Some(Threshold::Fraction(part)) => format!("{} of the buffer", show_ratio(part)),
        None => String::new(),
    }
}

/// A dynamic threshold is a ratio that switches can set.
fn alpha(record: &Record, path: &str, report: &mut Report) {
    let least = Ratio::new(1, 128);
    let given = record.get("alpha").and_then(fraction);
    if let Some(alpha) = given.filter(|a| a.num * least.den < a.den * least.num) {
        report.add(
            &join(path, "alpha"),
            format!("is {}, below {}", show_ratio(alpha), show_ratio(least)),
            "a number or a ratio, from \"1/128\" to 64",
            None,
        );
    }
}

/// A lower threshold must not exceed the upper one.
fn lower(record: &Record, path: &str, report: &mut Report) {
    let Some(drop) = object(record, "drop") else {
        return;
    };
    let cells = |name: &str| places_of(drop.get(name)?, buffer(record));
    let upper = ["threshold", "high"].iter().find_map(|&name| cells(name));
    if let (Some(low), Some(upper)) = (cells("low"), upper)
        && low > upper
    {
        report.add(
            &join(path, "drop.low"),
            format!("is {}, above the upper threshold", show_cells(low)),
            format!("at most {}", show_cells(upper)),
            None,
        );
    }
}

/// K must be at least R, since the formula contains K - R.
fn scale(record: &Record, path: &str, report: &mut Report) {
    let Some(drop) = object(record, "drop") else {
        return;
    };
    let k_fba = drop.get("k_fba").and_then(complete::<Size>);
    let (Some(k_fba), Some(r)) = (k_fba, drop.get("r")) else {
        return;
    };
    let buffer = buffer(record);
    if let Some(r) = places_of(r, buffer)
        && let Some(k) = known(k_fba)
        && k < r
    {
        report.add(
            &join(path, "drop.k_fba"),
            format!("is below R = {}", show_places(r, buffer)),
            "at least R",
            None,
        );
    }
}
