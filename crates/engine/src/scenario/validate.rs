//! Rules between the fields of one component. What concerns several components is in `expand` and `network`.

use super::check::{Record, fraction, join, number, object, text};
use super::problem::Report;
use super::quantity::{show_bytes, show_cells, show_duration};
use crate::registry::{Component, Family};
use crate::units::Span;
use serde_json::Value as Json;

/// Checks the rules of `component` for what `record` has of its fields.
pub(crate) fn component(component: &Component, record: &Record, path: &str, report: &mut Report) {
    match (component.family, component.name) {
        (Family::Scenario, _) => measured_time(record, report),
        (Family::Host, _) => frames_only(record, path, report),
        (Family::Queue, _) => thresholds(record, path, report),
        (Family::Traffic, "tcp") => tcp(record, path, report),
        (Family::Traffic, "vbr") => vbr(record, path, report),
        (Family::Processing, _) => spread(record, path, report),
        (Family::Probe, _) => sampling(record, path, report),
        _ => {}
    }
}

fn show(ticks: u64) -> String {
    show_duration(Span(ticks))
}

fn measured_time(record: &Record, report: &mut Report) {
    let measure = object(record, "measure");
    let (Some(duration), Some(measure)) = (number(record, "duration"), measure) else {
        return;
    };
    let Some(warm_up) = number(measure, "warm_up") else {
        return;
    };
    let limit = format!("at most {} in all, the duration", show(duration));
    if warm_up >= duration {
        report.add(
            "measure.warm_up",
            format!("leaves nothing of a run of {}", show(duration)),
            "less than the duration",
            None,
        );
    } else if number(measure, "window").is_some_and(|w| warm_up + w > duration) {
        report.add(
            "measure.window",
            format!("ends beyond the run: warm-up and window take {}", {
                show(warm_up + number(measure, "window").unwrap_or(0))
            }),
            limit,
            None,
        );
    }
}

/// Hosts and transports work on frames.
fn frames_only(record: &Record, path: &str, report: &mut Report) {
    let processing = object(record, "processing");
    if processing.and_then(|p| text(p, "per")) == Some("cell") {
        report.add(
            &join(path, "processing.per"),
            "only switches work cell by cell",
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
            "would make times negative",
            format!("at most the mean, {}", show(mean)),
            None,
        );
    }
}

fn sampling(record: &Record, path: &str, report: &mut Report) {
    if number(record, "interval").is_some() && number(record, "every").is_some() {
        report.add(
            &join(path, "every"),
            "excludes `interval`",
            "one of the two",
            None,
        );
    }
}

fn tcp(record: &Record, path: &str, report: &mut Report) {
    frames_only(record, path, report);
    let get = |name| number(record, name);
    if let (Some(mss), Some(rwnd)) = (get("mss"), get("rwnd"))
        && rwnd < mss
    {
        report.add(
            &join(path, "rwnd"),
            "is smaller than one segment, so nothing could be sent",
            format!("at least {}, the mss", show_bytes(mss)),
            None,
        );
    }
    for name in ["min_rto", "initial_rto"] {
        if let (Some(rto), Some(max)) = (get(name), get("max_rto"))
            && rto > max
        {
            report.add(
                &join(path, name),
                format!("is {}, above max_rto", show(rto)),
                format!("at most {}", show(max)),
                None,
            );
        }
    }
}

fn vbr(record: &Record, path: &str, report: &mut Report) {
    let amplitude = record.get("amplitude").and_then(fraction);
    if number(record, "rate").is_some() && amplitude.is_some() {
        report.add(
            &join(path, "amplitude"),
            "excludes `rate`",
            "one of the two",
            None,
        );
    } else if amplitude.is_some_and(|a| a.num == 0) {
        report.add(
            &join(path, "amplitude"),
            "must be above 0",
            "a fraction above 0, at most 1",
            None,
        );
    }
}

/// Thresholds within the buffer.
fn thresholds(record: &Record, path: &str, report: &mut Report) {
    let Some(drop) = object(record, "drop") else {
        return;
    };
    let path = |name: &str| join(path, &format!("drop.{name}"));
    if let Some(buffer) = number(record, "buffer") {
        for (name, symbol) in [("threshold", "T"), ("r", "R")] {
            let cells = drop.get(name).and_then(|t| t["cells"].as_u64());
            if cells.is_some_and(|c| c > buffer) {
                report.add(
                    &path(name),
                    format!("{symbol} is above the buffer K = {}", show_cells(buffer)),
                    "at most the buffer",
                    None,
                );
            }
        }
        let relative = drop.get("threshold").is_some_and(Json::is_null);
        if relative && number(drop, "reserve").is_some_and(|r| r > buffer) {
            report.add(
                &path("reserve"),
                format!(
                    "leaves no threshold: {} of a buffer of {}",
                    show_cells(number(drop, "reserve").unwrap_or(0)),
                    show_cells(buffer)
                ),
                "at most the buffer, or a threshold",
                None,
            );
        }
    }
    if let Some(k) = number(drop, "k_fba") {
        let r = match drop.get("r") {
            Some(r) if r["cells"].is_u64() => r["cells"].as_u64(),
            Some(r) => {
                let part = fraction(&r["fraction"]);
                part.zip(number(record, "buffer"))
                    .map(|(f, buffer)| f.floor_of(buffer))
            }
            None => None,
        };
        if r.is_some_and(|r| k < r) {
            report.add(
                &path("k_fba"),
                format!("is below R = {}", show_cells(r.unwrap_or(0))),
                "at least R",
                None,
            );
        }
    }
}
