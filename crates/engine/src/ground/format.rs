//! What the cells and frames of a scenario look like, and the clock that counts its time.
//!
//! Every constant of cells, frames and ticks is here. Everything else takes them from the
//! scenario's format. Mechanisms that only AAL5 has, such as ABR and policers, name
//! [`Format::AAL5`].

use super::place::Place;
use crate::ground::units::{BitRate, Span, Time};
use serde::{Deserialize, Serialize};

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

/// Most bytes of an IP packet: its total length has 16 bits (RFC 791).
const MOST_PACKET: u64 = 65_535;
/// Most bytes of an IP packet in AAL5, whose trailer states in 16 bits the length with the 8 bytes of
/// LLC/SNAP.
const MOST_IN_AAL5: u64 = MOST_PACKET - 8;
/// Most bytes of TCP data in a segment, and of data in a datagram, in any format.
pub(crate) const MOST_SEGMENT: u64 = MOST_PACKET - SEGMENT_HEADER_BYTES;
pub(crate) const MOST_DATAGRAM: u64 = MOST_PACKET - DATAGRAM_HEADER_BYTES;

/// Fewest bytes that an Ethernet frame carries (IEEE 802.3 clause 3.2.7). A shorter packet is padded.
pub(crate) const ETHERNET_LEAST: u64 = 46;
/// Bytes of an IP packet that an Ethernet frame may be allowed to carry, from an ACK with four SACK
/// blocks on, and those of IEEE 802.3.
pub(crate) const MTU: [u64; 2] = [76, MOST_PACKET];
const USUAL_MTU: u64 = 1_500;
/// Bytes of an Ethernet frame on the line besides what it carries: preamble and start delimiter 8,
/// addresses and type 14, frame check sequence 4, gap between frames 12.
const ETHERNET_OVERHEAD: u64 = 38;

/// What the cells and frames of a scenario look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct Format {
    /// Bits of a cell on the line; of the longest cell if they differ.
    pub cell_bits: u64,
    /// Bytes of a frame that a cell carries.
    pub cell_payload_bytes: u64,
    /// Bytes that a frame has besides its IP packet, without the padding of the last cell.
    pub frame_overhead_bytes: u64,
    /// Clock that counts the time of runs.
    pub clock: Clock,
    /// Whether a frame is one cell, as long as its packet makes it.
    pub is_ethernet: bool,
}

/// What Python and the explorer know of a format, by the names of the Python class `Format`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Constants {
    cell_bits: u64,
    cell_payload_bytes: u64,
    segment_overhead_bytes: u64,
    ticks_per_second: u64,
    noun: &'static str,
}

/// The cells of a frame: their number, with 15 bits, and the bytes of each on the line, with 17. They
/// are one number, which is passed on and compared with every frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameSize(u32);

impl FrameSize {
    const fn new(cells: u64, cell_bytes: u64) -> FrameSize {
        FrameSize(cell_bytes as u32 * CellOfFrame::BYTE + cells as u32)
    }

    /// Number of cells.
    pub const fn cells(self) -> u32 {
        self.0 % CellOfFrame::BYTE
    }

    /// Bytes of each cell on the line.
    pub const fn cell_bytes(self) -> u32 {
        self.0 / CellOfFrame::BYTE
    }

    /// The first cell.
    pub const fn first_cell(self) -> CellOfFrame {
        CellOfFrame(self.0 - self.cells())
    }

    /// Bytes of all cells on the line.
    pub fn line_bytes(self) -> u64 {
        u64::from(self.cells()) * u64::from(self.cell_bytes())
    }

    /// Bits of a cell on the line.
    pub fn cell_bits(self) -> f64 {
        f64::from(self.cell_bytes()) * 8.0
    }

    /// Bits of all cells on the line.
    pub fn line_bits(self) -> f64 {
        (8 * self.line_bytes()) as f64
    }

    /// The longer of two frames.
    pub fn longer(self, other: FrameSize) -> FrameSize {
        std::cmp::max_by_key(self, other, |size| size.line_bytes())
    }
}

/// A cell of a frame: its number there, from 0, and its bytes on the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellOfFrame(u32);

/// A frame has fewer cells than a byte counts, and no cell has as many bytes as there is room for.
const _: () = {
    let most_cells = (MOST_PACKET + MOST_OVERHEAD).div_ceil(LEAST_CARRIED);
    assert!(most_cells < CellOfFrame::BYTE as u64);
    assert!(ETHERNET_OVERHEAD + MOST_PACKET < (1 << 32) / CellOfFrame::BYTE as u64);
};

impl CellOfFrame {
    /// What a byte counts in addition to the number of the cell.
    const BYTE: u32 = 1 << 15;

    /// Number within the frame.
    pub fn number(self) -> u32 {
        self.0 % CellOfFrame::BYTE
    }

    /// Bytes on the line.
    pub fn bytes(self) -> u32 {
        self.0 / CellOfFrame::BYTE
    }

    /// The cell `n` places behind.
    pub fn after(self, n: u32) -> CellOfFrame {
        CellOfFrame(self.0 + n)
    }
}

/// A cell by its number alone, for tests.
#[cfg(test)]
impl From<u32> for CellOfFrame {
    fn from(number: u32) -> CellOfFrame {
        CellOfFrame(number)
    }
}

/// Bytes on the line of the shortest and of the longest cell of some flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellLengths {
    /// Of the shortest cell.
    pub shortest: u32,
    /// Of the longest cell.
    pub longest: u32,
}

impl CellLengths {
    /// Lengths of the cells of `frames`.
    pub fn of(frames: impl IntoIterator<Item = FrameSize>) -> Option<CellLengths> {
        let all = frames.into_iter().map(|size| CellLengths {
            shortest: size.cell_bytes(),
            longest: size.cell_bytes(),
        });
        all.reduce(CellLengths::and)
    }

    /// Lengths of these cells and `other`.
    pub fn and(self, other: CellLengths) -> CellLengths {
        CellLengths {
            shortest: self.shortest.min(other.shortest),
            longest: self.longest.max(other.longest),
        }
    }

    /// Whether all cells have one length.
    pub fn are_equal(self) -> bool {
        self.shortest == self.longest
    }
}

/// Name of [`Format::AAL5`] in scenarios.
const AAL5: &str = "aal5";
/// Name of [`Format::ETHERNET`] in scenarios.
const ETHERNET: &str = "ethernet";

/// Serialised form of [`Format`]: a name; or a kind; or cells of one size in bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Name(String),
    Kind(Kind),
    Cells(Cells),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Kind {
    Aal5 {},
    Ethernet { mtu: u64 },
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
        if format == Format::ETHERNET {
            return Written::Name(ETHERNET.into());
        }
        if format.is_ethernet {
            let mtu = format.cell_payload_bytes;
            return Written::Kind(Kind::Ethernet { mtu });
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
            Written::Kind(Kind::Aal5 {}) => Ok(Format::AAL5),
            Written::Kind(Kind::Ethernet { mtu }) => (MTU[0]..=MTU[1])
                .contains(&mtu)
                .then_some(Format::ethernet(mtu))
                .ok_or_else(|| "impossible MTU".into()),
            Written::Name(name) if name == AAL5 => Ok(Format::AAL5),
            Written::Name(name) if name == ETHERNET => Ok(Format::ETHERNET),
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
        is_ethernet: false,
    };

    /// Ethernet frames with packets of up to 1500 bytes.
    pub const ETHERNET: Format = Format::ethernet(USUAL_MTU);

    /// Ethernet frames (IEEE 802.3), which switches forward whole, with packets of up to `mtu` bytes.
    /// A packet of p bytes is one cell of 38 + max(46, p) bytes on the line: preamble, header, check
    /// sequence and gap included.
    pub const fn ethernet(mtu: u64) -> Format {
        Format {
            cell_bits: 8 * (ETHERNET_OVERHEAD + mtu),
            cell_payload_bytes: mtu,
            frame_overhead_bytes: 0,
            clock: Clock::FINE,
            is_ethernet: true,
        }
    }

    /// Cells of `cell` bytes that carry `carries` bytes of frames. A frame has `frame_overhead`
    /// bytes besides its IP packet.
    pub const fn cells(cell: u64, carries: u64, frame_overhead: u64) -> Format {
        Format {
            cell_bits: 8 * cell,
            cell_payload_bytes: carries,
            frame_overhead_bytes: frame_overhead,
            clock: Clock::FINE,
            is_ethernet: false,
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
    pub fn constants(self) -> Constants {
        Constants {
            cell_bits: self.cell_bits,
            cell_payload_bytes: self.cell_payload_bytes,
            segment_overhead_bytes: self.segment_overhead_bytes(),
            ticks_per_second: self.clock.ticks_per_second,
            noun: self.noun(),
        }
    }

    /// What a reader calls a cell: "cell" or "packet". Names of fields and units of scenarios say
    /// "cells" in every format.
    pub fn noun(self) -> &'static str {
        if self.is_ethernet { "packet" } else { "cell" }
    }

    /// Time of one cell at `rate`, the longest if they differ. It is rounded up to whole ticks so
    /// that no link exceeds its rate.
    pub const fn cell_time(self, rate: BitRate) -> Span {
        Span(self.cell_ticks_at_one_bps().div_ceil(rate.0 as u128) as u64)
    }

    /// Time of a cell of `bytes` at `rate`, rounded up to whole ticks.
    pub const fn time_of(self, bytes: u32, rate: BitRate) -> Span {
        let ticks = bytes as u128 * self.byte_ticks_at_one_bps();
        Span(ticks.div_ceil(rate.0 as u128) as u64)
    }

    /// Places that a cell of `bytes` takes in a queue that counts bytes: those of its frame. Preamble,
    /// start delimiter and gap of an Ethernet packet are not stored.
    pub const fn places(self, bytes: u32) -> u64 {
        self.place(1).of(bytes)
    }

    /// A place of `each` stored bytes of a cell.
    pub const fn place(self, each: u32) -> Place {
        let unstored = if self.is_ethernet { 20 } else { 0 };
        Place::Bytes { each, unstored }
    }

    /// Times of cells of any length at `rate`.
    pub fn cell_times(self, rate: BitRate) -> CellTimes {
        let byte = self.byte_ticks_at_one_bps() as u64;
        CellTimes {
            byte: byte / rate.0,
            rest: byte % rate.0,
            rate: rate.0,
        }
    }

    /// Time of a byte at 1 bit/s, ticks.
    const fn byte_ticks_at_one_bps(self) -> u128 {
        8 * self.clock.ticks_per_second as u128
    }

    /// Time of one cell at 1 bit/s, ticks.
    pub const fn cell_ticks_at_one_bps(self) -> u128 {
        self.cell_bits as u128 * self.clock.ticks_per_second as u128
    }

    /// Relative error of cell times at `rate`: how much too long they are, since they are whole
    /// numbers of ticks. It is the largest one if cells differ.
    pub fn rounding(self, rate: BitRate) -> f64 {
        let exact = |bytes: u32| u128::from(bytes) * self.byte_ticks_at_one_bps();
        let error = |bytes: u32| {
            let ticks = u128::from(self.time_of(bytes, rate).0) * u128::from(rate.0);
            (ticks - exact(bytes)) as f64 / exact(bytes) as f64
        };
        if self
            .byte_ticks_at_one_bps()
            .is_multiple_of(u128::from(rate.0))
        {
            return 0.0;
        }
        // A time is less than a tick too long, so longer cells matter less and less.
        let mut largest = 0.0;
        let lengths = self.shortest_cell_bytes()..=self.one_cell().cell_bytes();
        for bytes in lengths {
            if rate.0 as f64 / exact(bytes) as f64 <= largest {
                break;
            }
            largest = error(bytes).max(largest);
        }
        largest
    }

    /// Number of cells that `bits` bits are, or cells per second that `bits` bits per second are;
    /// of the longest cells if they differ.
    pub fn cells_in(self, bits: f64) -> f64 {
        bits / self.cell_bits as f64
    }

    /// Most cells that `bits` bits can be.
    pub fn most_cells_in(self, bits: f64) -> f64 {
        bits / f64::from(8 * self.shortest_cell_bytes())
    }

    /// Length of a frame on the line, in cells; in the longest cells if they differ.
    pub fn length_in_cells(self, size: FrameSize) -> f64 {
        self.cells_in(size.line_bits())
    }

    /// Bytes of the shortest cell on the line.
    fn shortest_cell_bytes(self) -> u32 {
        self.frame(0).cell_bytes()
    }

    /// The frame of an IP packet of `packet_bytes`. The reader refuses packets that are longer than
    /// an Ethernet frame carries; they count as the longest.
    fn frame(self, packet_bytes: u64) -> FrameSize {
        if self.is_ethernet {
            let carried = packet_bytes.clamp(ETHERNET_LEAST, self.cell_payload_bytes);
            return FrameSize::new(1, ETHERNET_OVERHEAD + carried);
        }
        let cells = (packet_bytes + self.frame_overhead_bytes).div_ceil(self.cell_payload_bytes);
        FrameSize::new(cells, self.cell_bits / 8)
    }

    /// A frame of one cell; of the longest if they differ.
    pub const fn one_cell(self) -> FrameSize {
        FrameSize::new(1, self.cell_bits / 8)
    }

    /// Bytes of a frame with TCP data besides these data, without padding.
    pub fn segment_overhead_bytes(self) -> u64 {
        SEGMENT_HEADER_BYTES + self.frame_overhead_bytes
    }

    /// The frame of `data_bytes` of TCP data.
    pub fn segment(self, data_bytes: u64) -> FrameSize {
        self.frame(data_bytes + SEGMENT_HEADER_BYTES)
    }

    /// The frame of a UDP datagram of `data_bytes`.
    pub fn datagram(self, data_bytes: u64) -> FrameSize {
        self.frame(data_bytes + DATAGRAM_HEADER_BYTES)
    }

    /// The frame of an ACK with `blocks` SACK blocks. Their option takes 4 + 8 n bytes for n blocks
    /// (RFC 2018, with two NOPs). In AAL5, an ACK with up to four blocks has 2 cells, as one
    /// without.
    pub fn ack(self, blocks: u8) -> FrameSize {
        let option = match blocks {
            0 => 0,
            n => 4 + 8 * u64::from(n),
        };
        self.segment(option)
    }

    /// Most bytes of an IP packet.
    pub(crate) fn most_packet(self) -> u64 {
        match (self.is_ethernet, self.is_aal5()) {
            (true, _) => self.cell_payload_bytes,
            (_, true) => MOST_IN_AAL5,
            _ => MOST_PACKET,
        }
    }

    /// Most bytes of TCP data, and of a UDP datagram, that a frame may carry.
    pub(crate) fn most_data(self) -> [u64; 2] {
        let headers = [SEGMENT_HEADER_BYTES, DATAGRAM_HEADER_BYTES];
        headers.map(|header| self.most_packet() - header)
    }

    /// Whether a SYN, with the option that states the MSS (4 bytes), is as long on the line as an
    /// ACK. The engine assumes so, and the reader refuses handshakes otherwise.
    pub fn syn_is_like_ack(self) -> bool {
        self.segment(4) == self.ack(0)
    }
}

/// Times of cells of any length at one rate, as [`Format::time_of`].
#[derive(Clone, Copy, Debug)]
pub struct CellTimes {
    /// Whole ticks of a byte.
    byte: u64,
    /// What is left of a byte, in ticks times the rate: nothing at all rates of Ethernet.
    rest: u64,
    rate: u64,
}

impl CellTimes {
    /// Time of a cell of `bytes`. `rest` is below the rate, so the products fit for every length.
    #[inline]
    pub fn of(&self, bytes: u32) -> Span {
        let bytes = u64::from(bytes);
        let whole = bytes * self.byte;
        Span(match self.rest {
            0 => whole,
            rest => whole + (bytes * rest).div_ceil(self.rate),
        })
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
#[doc(hidden)]
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
            assert_eq!(aal5.segment(mss).cells(), cells);
        }
        assert_eq!(
            [0, 1, 2, 3, 4].map(|blocks| aal5.ack(blocks).cells()),
            [2; 5]
        );
        assert!(aal5.syn_is_like_ack());
        assert_eq!(
            [0, 4, 5, 1024, 65_499].map(|bytes| aal5.datagram(bytes).cells()),
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
        let cells = [53, 256, LONGEST_CELL].map(|bytes| Format::cells(bytes, bytes, 0));
        for format in cells.into_iter().chain(MTU.map(Format::ethernet)) {
            assert!(format.cell_time(format.least_rate()) <= longest);
        }
    }

    #[test]
    fn frames_of_cells_of_any_size() {
        let format = Format::cells(256, 240, 4);
        assert_eq!(
            [196, 197, 1_460].map(|mss| format.segment(mss).cells()),
            [1, 2, 7]
        );
        let small = Format::cells(64, 64, 0);
        let cells = [0, 1, 2, 3, 4].map(|blocks| small.ack(blocks).cells());
        assert_eq!(cells, [1, 1, 1, 2, 2]);
        assert!(format.syn_is_like_ack() && !Format::cells(64, 40, 0).syn_is_like_ack());
        let fewest = Format::cells(LEAST_CARRIED, LEAST_CARRIED, MOST_OVERHEAD);
        assert!(fewest.frame(65_535).cells() < 1 << 12);
    }

    /// Sizes by hand from IEEE 802.3: a frame of 64 to 1 518 bytes from its destination address to
    /// its check sequence, 8 bytes before it, 12 bytes of silence behind it.
    #[test]
    fn an_ethernet_frame_is_one_cell_as_long_as_its_packet_makes_it() {
        let format = Format::ETHERNET;
        let bytes = |size: FrameSize| (size.cells(), size.cell_bytes());
        assert_eq!(bytes(format.segment(1_460)), (1, 8 + 1_518 + 12));
        assert_eq!(bytes(format.datagram(1_472)), (1, 1_538));
        assert_eq!(format.most_data(), [1_460, 1_472]);
        // An ACK of 40 bytes is padded. With 1, 2, 3 and 4 blocks it has 52, 60, 68 and 76 bytes.
        let acks = [0, 1, 2, 3, 4].map(|blocks| bytes(format.ack(blocks)));
        assert_eq!(acks, [84, 90, 98, 106, 114].map(|bytes| (1, bytes)));
        // A packet of 46 bytes is not padded, and one of 47 is longer.
        let short = [1, 6, 7].map(|data| format.segment(data).cell_bytes());
        assert_eq!(short, [84, 84, 85]);
        assert!(format.syn_is_like_ack());
    }

    /// Jumbo frames by hand, up to the longest IP packet, whose total length has 16 bits.
    #[test]
    fn a_longer_mtu_lets_longer_packets_through() {
        let bytes = |size: FrameSize| (size.cells(), size.cell_bytes());
        let jumbo = Format::ethernet(9_000);
        assert_eq!(bytes(jumbo.segment(8_960)), (1, 8 + 9_018 + 12));
        assert_eq!(bytes(jumbo.datagram(8_972)), (1, 9_038));
        assert_eq!(jumbo.one_cell(), jumbo.segment(8_960));
        assert_eq!(jumbo.segment(1_460), Format::ETHERNET.segment(1_460));
        assert_eq!(jumbo.ack(4), Format::ETHERNET.ack(4));
        assert_eq!(jumbo.most_data(), [8_960, 8_972]);
        let longest = Format::ethernet(MTU[1]);
        assert_eq!(longest.most_data(), [MOST_SEGMENT, MOST_DATAGRAM]);
        assert_eq!(bytes(longest.segment(MOST_SEGMENT)), (1, 65_573));
        assert_eq!(longest.segment(MOST_SEGMENT).first_cell().bytes(), 65_573);
        // The longest ACK fits under the least MTU.
        let least = Format::ethernet(MTU[0]);
        assert_eq!(bytes(least.ack(4)), (1, 38 + 40 + 4 + 4 * 8));
        assert_eq!(least.ack(4), least.one_cell());
        assert_eq!(Format::ethernet(1_500), Format::ETHERNET);
        assert_eq!(Format::AAL5.most_data(), [65_487, 65_499]);
        assert_eq!(Format::cells(64, 64, 0).most_data(), longest.most_data());
    }

    /// Looks at every length that the search for the largest error may skip.
    #[test]
    fn the_error_of_cell_times_is_that_of_the_length_where_it_is_largest() {
        let format = Format::ethernet(9_000);
        for rate in [7_000_001, 123_456_789, 999_999_999_989] {
            let errors = (84..=9_038).map(|bytes| {
                let ticks = u128::from(format.time_of(bytes, BitRate(rate)).0) * u128::from(rate);
                let exact = u128::from(bytes) * format.byte_ticks_at_one_bps();
                (ticks - exact) as f64 / exact as f64
            });
            assert_eq!(format.rounding(BitRate(rate)), errors.fold(0.0, f64::max));
        }
    }

    #[test]
    fn times_of_cells_of_any_length_are_rounded_up() {
        for format in [Format::ETHERNET, Format::ethernet(MTU[1])] {
            for rate in [
                format.least_rate().0,
                7_000_000_001,
                100_000_000_000,
                999_999_999_989,
            ] {
                let times = format.cell_times(BitRate(rate));
                for bytes in [84, 85, 1_000, format.one_cell().cell_bytes()] {
                    let exact = 8 * u128::from(bytes) * u128::from(format.clock.ticks_per_second);
                    let ticks = u128::from(times.of(bytes).0);
                    assert!(
                        ticks * u128::from(rate) >= exact && (ticks - 1) * u128::from(rate) < exact
                    );
                    assert_eq!(times.of(bytes), format.time_of(bytes, BitRate(rate)));
                }
            }
        }
        let format = Format::ETHERNET;
        let full = format.time_of(1_538, BitRate(100_000_000_000));
        assert_eq!(full, format.cell_time(BitRate(100_000_000_000)));
        assert_eq!(full * 100, format.clock.nanoseconds(12_304));
    }
}
