//! What the cells and frames of a scenario look like, and the clock that counts its time.
//!
//! Every constant of cells, frames and ticks is here. Everything else takes them from the
//! scenario's format. Mechanisms that only AAL5 has, such as ABR and policers, name
//! [`Format::AAL5`].

use crate::units::{BitRate, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of the headers of a TCP segment without options: IP 20, TCP 20.
const SEGMENT_HEADER_BYTES: u64 = 40;
/// Bytes of the headers of a UDP datagram: IP 20, UDP 8.
const DATAGRAM_HEADER_BYTES: u64 = 28;

/// Fewest bytes of a frame that a cell carries. A frame then has at most 2 080 cells, so that the
/// numbers of its cells fit the 12 bits that random draws leave for them (model section 8).
pub(crate) const LEAST_CARRIED: u64 = 32;
/// Most bytes of a cell: a jumbo frame, the longest unit that switches forward as a whole.
pub(crate) const LONGEST_CELL: u64 = 9_216;
/// Most bytes that a frame may have besides its IP packet.
pub(crate) const MOST_OVERHEAD: u64 = 1_024;

/// What the cells and frames of a scenario look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct Format {
    /// Bits of a cell on the line.
    pub cell_bits: u64,
    /// Bytes of a frame that a cell carries.
    pub cell_payload_bytes: u64,
    /// Bytes that a frame has besides its IP packet, without the padding of the last cell.
    pub frame_overhead_bytes: u64,
    /// Clock that counts the time of runs.
    pub clock: Clock,
}

/// Name of [`Format::AAL5`] in scenarios.
const AAL5: &str = "aal5";

/// Serialised form of [`Format`]: a name, or cells of one size in bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Name(String),
    Cells(Cells),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cells {
    cell: u64,
    carries: u64,
    frame_overhead: u64,
}

impl From<Format> for Written {
    fn from(format: Format) -> Written {
        if format.is_aal5() {
            return Written::Name(AAL5.into());
        }
        Written::Cells(Cells {
            cell: format.cell_bits / 8,
            carries: format.cell_payload_bytes,
            frame_overhead: format.frame_overhead_bytes,
        })
    }
}

impl TryFrom<Written> for Format {
    type Error = String;

    fn try_from(written: Written) -> Result<Format, String> {
        match written {
            Written::Name(name) if name == AAL5 => Ok(Format::AAL5),
            Written::Name(name) => Err(format!("`{name}` is not a format")),
            Written::Cells(Cells {
                cell,
                carries,
                frame_overhead,
            }) => {
                let possible = (LEAST_CARRIED..=cell).contains(&carries)
                    && cell <= LONGEST_CELL
                    && frame_overhead <= MOST_OVERHEAD;
                let format = Format::cells(cell, carries, frame_overhead);
                possible
                    .then_some(format)
                    .ok_or_else(|| "impossible cells".into())
            }
        }
    }
}

impl Default for Format {
    fn default() -> Format {
        Format::AAL5
    }
}

impl Format {
    /// ATM cells of 53 bytes with AAL5 frames (ITU-T I.363.5) of IP packets with LLC/SNAP headers
    /// (RFC 2684). A frame adds the header (8 bytes) and the AAL5 trailer (8 bytes).
    pub const AAL5: Format = Format {
        cell_bits: 8 * 53,
        cell_payload_bytes: 48,
        frame_overhead_bytes: 16,
        clock: Clock::AAL5,
    };

    /// Cells of `cell` bytes that carry `carries` bytes of frames. A frame has `frame_overhead`
    /// bytes besides its IP packet.
    pub const fn cells(cell: u64, carries: u64, frame_overhead: u64) -> Format {
        Format {
            cell_bits: 8 * cell,
            cell_payload_bytes: carries,
            frame_overhead_bytes: frame_overhead,
            clock: Clock::FINE,
        }
    }

    /// Whether this is [`Format::AAL5`], for which mechanisms such as ABR are defined.
    pub fn is_aal5(&self) -> bool {
        *self == Format::AAL5
    }

    /// Lowest rate of a link or source. A cell then takes no more ticks than an ATM cell at 1
    /// bit/s, for which products of times fit their integers.
    pub const fn least_rate(self) -> BitRate {
        let longest = Format::AAL5.cell_ticks_at_one_bps();
        BitRate(self.cell_ticks_at_one_bps().div_ceil(longest) as u64)
    }

    /// The constants by name, for callers that are not written in Rust.
    pub fn constants(self) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([
            ("cell_bits", self.cell_bits),
            ("cell_payload_bytes", self.cell_payload_bytes),
            ("segment_overhead_bytes", self.segment_overhead_bytes()),
            ("ticks_per_second", self.clock.ticks_per_second),
        ])
    }

    /// Time of one cell at `rate`, rounded up to whole ticks so that no link exceeds its rate.
    pub const fn cell_time(self, rate: BitRate) -> Span {
        Span(self.cell_ticks_at_one_bps().div_ceil(rate.0 as u128) as u64)
    }

    /// Time of one cell at 1 bit/s, ticks.
    pub const fn cell_ticks_at_one_bps(self) -> u128 {
        self.cell_bits as u128 * self.clock.ticks_per_second as u128
    }

    /// Relative error of the cell time at `rate`: how much too long it is, since it is a whole
    /// number of ticks.
    pub fn rounding(self, rate: BitRate) -> f64 {
        let exact = self.cell_ticks_at_one_bps();
        let ticks = u128::from(self.cell_time(rate).0) * u128::from(rate.0);
        (ticks - exact) as f64 / exact as f64
    }

    /// Number of cells that `bits` bits are, or cells per second that `bits` bits per second are.
    pub fn cells_in(self, bits: f64) -> f64 {
        bits / self.cell_bits as f64
    }

    /// Cells of a frame with an IP packet of `packet_bytes`.
    fn frame_cells(self, packet_bytes: u64) -> u32 {
        (packet_bytes + self.frame_overhead_bytes).div_ceil(self.cell_payload_bytes) as u32
    }

    /// Bytes of a frame with TCP data besides these data, without padding.
    pub fn segment_overhead_bytes(self) -> u64 {
        SEGMENT_HEADER_BYTES + self.frame_overhead_bytes
    }

    /// Cells of a frame with `data_bytes` of TCP data.
    pub fn segment_cells(self, data_bytes: u64) -> u32 {
        self.frame_cells(data_bytes + SEGMENT_HEADER_BYTES)
    }

    /// Cells of a frame with a UDP datagram of `data_bytes`.
    pub fn datagram_cells(self, data_bytes: u64) -> u32 {
        self.frame_cells(data_bytes + DATAGRAM_HEADER_BYTES)
    }

    /// Cells of an ACK with `blocks` SACK blocks. Their option takes 4 + 8 n bytes for n blocks (RFC
    /// 2018, with two NOPs). In AAL5, an ACK with up to four blocks has 2 cells, as one without.
    pub fn ack_cells(self, blocks: u8) -> u32 {
        let option = match blocks {
            0 => 0,
            n => 4 + 8 * u64::from(n),
        };
        self.segment_cells(option)
    }

    /// Whether a SYN, with the option that states the MSS (4 bytes), takes no more cells than an
    /// ACK. The engine assumes so, and the reader refuses handshakes otherwise.
    pub fn syn_is_like_ack(self) -> bool {
        self.segment_cells(4) == self.ack_cells(0)
    }
}

/// The ticks in which the times of a run are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks in one second.
    pub ticks_per_second: u64,
}

impl Clock {
    /// 2^12 3^5 5^9 13 ticks per second. With this tick, coincidences are exact: times of ATM cells
    /// are integers at 155.52, 149.76, 150, 33.92, 10, 2 and 0.2 Mb/s, and at STM-4 and T3 cell
    /// rates. Every whole nanosecond is an integer too.
    pub const AAL5: Clock = Clock {
        ticks_per_second: 25_272_000_000_000,
    };

    /// 2^12 3^5 5^11 13 ticks per second, for all other formats. Times of cells of whole bytes are
    /// integers at 1, 10, 25, 40, 50, 100, 200, 400 and 800 Gb/s.
    pub const FINE: Clock = Clock {
        ticks_per_second: 25 * Clock::AAL5.ticks_per_second,
    };

    /// Ticks in one nanosecond.
    pub const fn ticks_per_nanosecond(self) -> u64 {
        self.ticks_per_second / 1_000_000_000
    }

    /// A whole number of nanoseconds.
    pub const fn nanoseconds(self, ns: u64) -> Span {
        Span(ns * self.ticks_per_nanosecond())
    }

    /// A whole number of milliseconds.
    pub const fn milliseconds(self, ms: u64) -> Span {
        self.nanoseconds(ms * 1_000_000)
    }

    /// A whole number of nanoseconds, at most [`Span::LONGEST`].
    pub fn nanoseconds_or_longest(self, ns: u64) -> Span {
        let ticks = u128::from(ns) * u128::from(self.ticks_per_nanosecond());
        u64::try_from(ticks).map_or(Span::LONGEST, |ticks| Span(ticks).min(Span::LONGEST))
    }

    /// Whole nanoseconds from the start of the run to `time`.
    pub fn nanoseconds_until(self, time: Time) -> u64 {
        time.0 / self.ticks_per_nanosecond()
    }

    /// [`Time::LATEST`] in whole seconds.
    pub fn latest_seconds(self) -> u64 {
        Time::LATEST.0 / self.ticks_per_second
    }

    /// [`Span::LONGEST`] in nanoseconds.
    pub const fn longest_nanoseconds(self) -> u64 {
        Span::LONGEST.0 / self.ticks_per_nanosecond()
    }

    /// Seconds in a number of ticks.
    pub fn seconds(self, ticks: f64) -> f64 {
        ticks / self.ticks_per_second as f64
    }
}

impl Time {
    /// Latest time at which waiting cells must have gone. It is the same tick of every clock,
    /// 350 000 s in AAL5 and 14 000 s in other formats, since signed 64-bit ticks reach 364 900 s
    /// and 14 598 s.
    pub const LATEST: Time = Time(350_000 * Clock::AAL5.ticks_per_second);

    /// Seconds since the start of the run, as `clock` counts them.
    pub fn as_seconds(self, clock: Clock) -> f64 {
        clock.seconds(self.0 as f64)
    }
}

impl Span {
    /// Longest length that a scenario can state. It has the same ticks in every clock: 100 000 s in
    /// AAL5 and 4 000 s in other formats.
    pub const LONGEST: Span = Span(100_000 * Clock::AAL5.ticks_per_second);

    /// Length in seconds, as `clock` counts them.
    pub fn as_seconds(self, clock: Clock) -> f64 {
        clock.seconds(self.0 as f64)
    }
}

/// Lengths in AAL5's clock, for tests.
#[cfg(any(test, feature = "testing"))]
impl Span {
    /// A whole number of nanoseconds.
    pub const fn from_nanoseconds(ns: u64) -> Span {
        Clock::AAL5.nanoseconds(ns)
    }

    /// A whole number of microseconds.
    pub const fn from_microseconds(us: u64) -> Span {
        Clock::AAL5.nanoseconds(us * 1_000)
    }

    /// A whole number of milliseconds.
    pub const fn from_milliseconds(ms: u64) -> Span {
        Clock::AAL5.milliseconds(ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_times_of_the_studies_are_not_rounded() {
        for rate in [
            155_520_000,
            149_760_000,
            150_000_000,
            33_920_000,
            10_000_000,
            2_000_000,
            200_000,
            40_704_000,
        ] {
            let cell = Format::AAL5.cell_time(BitRate(rate));
            let ticks = u128::from(cell.0) * u128::from(rate);
            assert_eq!(ticks, Format::AAL5.cell_ticks_at_one_bps(), "{rate}");
        }
        let oc3 = BitRate(155_520_000);
        assert_eq!(Format::AAL5.cell_time(oc3), Span(68_900_000));
    }

    #[test]
    fn other_cell_times_are_less_than_a_tick_too_long() {
        for rate in [7_000_003, 34_368_000, 141_000_000, 999_999_999_989] {
            let cell = Format::AAL5.cell_time(BitRate(rate));
            let ticks = u128::from(cell.0) * u128::from(rate);
            let more = ticks - Format::AAL5.cell_ticks_at_one_bps();
            assert!(0 < more && more < u128::from(rate), "{rate}");
        }
    }

    #[test]
    fn frame_sizes_of_the_studies() {
        let aal5 = Format::AAL5;
        for (mss, cells) in [(512, 12), (1460, 32), (9140, 192), (9180, 193)] {
            assert_eq!(aal5.segment_cells(mss), cells);
        }
        assert_eq!([0, 1, 2, 3, 4].map(|blocks| aal5.ack_cells(blocks)), [2; 5]);
        assert!(aal5.syn_is_like_ack());
        assert_eq!(
            [0, 4, 5, 1024, 65_499].map(|bytes| aal5.datagram_cells(bytes)),
            [1, 1, 2, 23, 1366]
        );
    }

    #[test]
    fn long_lengths_stop_at_the_longest() {
        let clock = Clock::AAL5;
        assert_eq!(clock.nanoseconds_or_longest(7), clock.nanoseconds(7));
        let limit = Span::LONGEST.0 / clock.ticks_per_nanosecond();
        for ns in [limit, limit + 1, u64::MAX] {
            assert_eq!(clock.nanoseconds_or_longest(ns), Span::LONGEST);
        }
    }

    #[test]
    fn times_of_whole_bytes_are_exact_at_the_rates_of_ethernet() {
        for gigabits in [1, 10, 25, 40, 50, 100, 200, 400, 800] {
            let rate = BitRate(gigabits * 1_000_000_000);
            for bytes in [1, 53, 64, 84, 256, 1_538, LONGEST_CELL] {
                let format = Format::cells(bytes, bytes, 0);
                assert_eq!(
                    format.rounding(rate),
                    0.0,
                    "{bytes} bytes at {gigabits} Gb/s"
                );
            }
        }
        let third = Format::cells(256, 240, 4).rounding(BitRate(7_000_000_001));
        assert!(0.0 < third && third < 1e-8, "{third}");
    }

    #[test]
    fn the_fine_clock_ends_earlier() {
        assert_eq!(Clock::FINE.latest_seconds(), 14_000);
        assert_eq!(Clock::FINE.longest_nanoseconds(), 4_000_000_000_000);
        assert_eq!(Clock::AAL5.longest_nanoseconds(), 100_000_000_000_000);
    }

    #[test]
    fn the_lowest_rate_gives_the_longest_cell_time() {
        assert_eq!(Format::AAL5.least_rate(), BitRate(1));
        let longest = Format::AAL5.cell_time(BitRate(1));
        for bytes in [53, 256, LONGEST_CELL] {
            let format = Format::cells(bytes, bytes, 0);
            assert!(format.cell_time(format.least_rate()) <= longest);
        }
    }

    #[test]
    fn frames_of_cells_of_any_size() {
        let format = Format::cells(256, 240, 4);
        assert_eq!(
            [196, 197, 1_460].map(|mss| format.segment_cells(mss)),
            [1, 2, 7]
        );
        let small = Format::cells(64, 64, 0);
        let cells = [0, 1, 2, 3, 4].map(|blocks| small.ack_cells(blocks));
        assert_eq!(cells, [1, 1, 1, 2, 2]);
        assert!(format.syn_is_like_ack() && !Format::cells(64, 40, 0).syn_is_like_ack());
        let fewest = Format::cells(LEAST_CARRIED, LEAST_CARRIED, MOST_OVERHEAD);
        assert!(fewest.frame_cells(65_535) < 1 << 12);
    }
}
