//! Recordings of the probes of a run, in the form in which Python gets them: columns of numbers.

use cellyard_engine::FilePart;
use cellyard_engine::results::Dropped;
use numpy::PyArray1;
use pyo3::prelude::*;
use std::collections::HashMap;

/// Size of the record of a traced drop, in bytes. `python/cellyard/results/drops.py` reads these
/// records.
///
/// Fields in order, in the byte order of the machine:
///
/// * `time_s` and the threshold: 64-bit floats, NaN for none;
/// * what waits, what of the VC waits, and `active_vcs`: signed 64-bit integers, -1 for none;
/// * `frame`, `cell`, and the numbers of the words `port`, `vc`, `direction` and `reason`: unsigned
///   32-bit integers;
/// * the average queue and `drop_probability`: 64-bit floats, NaN for none;
/// * the number of the word `policy_state`: an unsigned 32-bit integer, [`NO_WORD`] for none;
/// * 1 if the queue counts bytes, else 0: an unsigned 32-bit integer;
/// * the free places of a pool: a signed 64-bit integer, -1 for none;
/// * the dynamic threshold: a 64-bit float, NaN for none;
/// * the number of the word `pool_queues`: an unsigned 32-bit integer, [`NO_WORD`] for none.
const DROP_BYTES: usize = 108;

/// In place of the number of a word that is not there.
const NO_WORD: u32 = u32::MAX;

/// Times in seconds and values of a series.
pub type Points<Column> = (Column, Column);

/// Points of each series in the order of the result, records of traced drops, and parts of
/// captures.
#[derive(Default)]
pub struct Recorded {
    points: Vec<Points<Vec<f64>>>,
    drops: Vec<u8>,
    captured: Vec<FilePart>,
}

type Array<'py, T> = Bound<'py, PyArray1<T>>;

/// FilePart of a capture for Python: index of the probe, bytes, and the time in seconds at which a
/// limit ended the file, if any.
type PartTuple<'py> = (usize, Array<'py, u8>, Option<f64>);

/// Recordings as arrays: points, drops and captures.
pub type RecordedTuple<'py> = (
    Vec<Points<Array<'py, f64>>>,
    Option<Array<'py, u8>>,
    Vec<PartTuple<'py>>,
);

impl Recorded {
    /// Converts the recordings to arrays without copying. Without probes no array is made, so numpy
    /// is not needed.
    pub fn into_arrays(self, py: Python<'_>) -> RecordedTuple<'_> {
        let array = |column| PyArray1::from_vec(py, column);
        let points = self.points.into_iter();
        let points = points.map(|(time_s, value)| (array(time_s), array(value)));
        let drops = (!self.drops.is_empty()).then_some(self.drops);
        let drops = drops.map(|drops| PyArray1::from_vec(py, drops));
        let captured = self.captured.into_iter().map(|part| {
            let bytes = PyArray1::from_vec(py, part.bytes);
            (part.probe, bytes, part.limited_at_s)
        });
        (points.collect(), drops, captured.collect())
    }
}

/// Words in the traced drops of a run. They are numbered from 0 in the order in which drops use
/// them.
#[derive(Default)]
pub struct Words {
    numbers: HashMap<String, u32>,
    /// All words, in the order of their numbers.
    pub all: Vec<String>,
}

impl Words {
    /// Converts recordings of the probes to columns.
    pub fn recorded(
        &mut self,
        points: impl Iterator<Item = Points<Vec<f64>>>,
        dropped: &[Dropped],
        captured: Vec<FilePart>,
    ) -> Recorded {
        let mut drops = Vec::with_capacity(dropped.len() * DROP_BYTES);
        for drop in dropped {
            self.put(drop, &mut drops);
        }
        Recorded {
            points: points.collect(),
            drops,
            captured,
        }
    }

    fn put(&mut self, drop: &Dropped, out: &mut Vec<u8>) {
        let before = out.len();
        out.extend(drop.time_s.to_ne_bytes());
        put_measure(drop.threshold_cells.or(drop.threshold_bytes), out);
        for count in [
            drop.waiting_cells.or(drop.waiting_bytes),
            drop.waiting_of_vc_cells.or(drop.waiting_of_vc_bytes),
            drop.active_vcs,
        ] {
            out.extend(count_of(count).to_ne_bytes());
        }
        let words = [
            &drop.port,
            &drop.vc,
            drop.direction.name(),
            drop.reason.name(),
        ];
        let words = words.map(|word| self.number(word));
        for number in [drop.frame, drop.cell].into_iter().chain(words) {
            out.extend(number.to_ne_bytes());
        }
        put_measure(drop.average_queue_cells.or(drop.average_queue_bytes), out);
        put_measure(drop.drop_probability, out);
        let state = drop.policy_state.as_deref();
        let state = state.map_or(NO_WORD, |state| self.number(state));
        out.extend(state.to_ne_bytes());
        out.extend(u32::from(drop.waiting_bytes.is_some()).to_ne_bytes());
        out.extend(count_of(drop.free_places).to_ne_bytes());
        put_measure(drop.dynamic_threshold_places, out);
        let queues = drop.pool_queues.as_deref();
        let queues = queues.map_or(NO_WORD, |queues| self.number(queues));
        out.extend(queues.to_ne_bytes());
        debug_assert_eq!(out.len() - before, DROP_BYTES);
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = u32::try_from(self.all.len()).expect("fewer words than names in a scenario");
        self.numbers.insert(word.to_string(), number);
        self.all.push(word.to_string());
        number
    }
}

/// A count, -1 for none.
fn count_of(count: Option<u64>) -> i64 {
    count.map_or(-1, |count| i64::try_from(count).unwrap_or(i64::MAX))
}

/// Appends a number, NaN for none.
fn put_measure(value: Option<f64>, out: &mut Vec<u8>) {
    out.extend(value.unwrap_or(f64::NAN).to_ne_bytes());
}
