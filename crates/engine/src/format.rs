//! What the cells and frames of a scenario look like, and the clock that counts its time.
//!
//! Every constant of cells, frames and ticks is here. Everything else takes them from the
//! scenario's format. Mechanisms that only AAL5 has, such as ABR and policers, name
//! [`Format::AAL5`].

use crate::units::{BitRate, Span, Time};

/// Bytes of the headers of a TCP segment without options: IP 20, TCP 20.
const SEGMENT_HEADER_BYTES: u64 = 40;
/// Bytes of the headers of a UDP datagram: IP 20, UDP 8.
const DATAGRAM_HEADER_BYTES: u64 = 28;

/// What the cells and frames of a scenario look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Time of one cell at `rate`, rounded up to whole ticks so that no link exceeds its rate.
    pub const fn cell_time(self, rate: BitRate) -> Span {
        Span(self.cell_ticks_at_one_bps().div_ceil(rate.0 as u128) as u64)
    }

    /// Time of one cell at 1 bit/s, ticks.
    pub const fn cell_ticks_at_one_bps(self) -> u128 {
        self.cell_bits as u128 * self.clock.ticks_per_second as u128
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

    /// Cells of an ACK. In AAL5, an ACK with up to four SACK blocks (36 bytes of options) takes no
    /// more cells than one without.
    pub fn ack_cells(self) -> u32 {
        self.segment_cells(0)
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

    /// Seconds in a number of ticks.
    pub fn seconds(self, ticks: f64) -> f64 {
        ticks / self.ticks_per_second as f64
    }
}

impl Time {
    /// Latest time at which waiting cells must have gone. It is the same tick of every clock,
    /// 350 000 s in AAL5, since signed 64-bit ticks reach 364 900 s there.
    pub const LATEST: Time = Time(350_000 * Clock::AAL5.ticks_per_second);

    /// Seconds since the start of the run, as `clock` counts them.
    pub fn as_seconds(self, clock: Clock) -> f64 {
        clock.seconds(self.0 as f64)
    }
}

impl Span {
    /// Longest length that a scenario can state. It has the same ticks in every clock, 100 000 s in
    /// AAL5.
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
        assert_eq!(aal5.ack_cells(), 2);
        assert_eq!(aal5.segment_cells(36), aal5.ack_cells());
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
}
