//! Bytes of captured packets: link types, headers and checksums of cells, frames and segments.
//!
//! Everything that depends on the cell format is here, behind [`append`]. Cells and AAL5 frames are
//! ERF records (link type 197): a 16-octet header, the ATM header without HEC, the payload.
//! Ethernet frames have link type 1 and end with their check sequence. Segments are raw IPv4
//! packets (link type 101).
//!
//! Sources: ERF record types 3 and 4 (Endace); ITU-T I.361 (ATM header, UNI); ITU-T I.363.5 (AAL5);
//! RFC 2684 (LLC/SNAP); IEEE 802.3 clause 3 (Ethernet); RFC 791, 768, 9293, 2018, 7323 (IP, UDP,
//! TCP, SACK, window scale).

use super::pcapng::LinkType;
use crate::ground::format::{Clock, ETHERNET_LEAST, Format};
use crate::ground::units::Time;
use crate::network::abr::Rm;

/// Link type of ATM cells and AAL5 frames.
pub const ERF: LinkType = LinkType {
    number: 197,
    check_bytes: None,
};
/// Link type of Ethernet frames.
pub const ETHERNET: LinkType = LinkType {
    number: 1,
    check_bytes: Some(4),
};
/// Link type of segments.
pub const IP: LinkType = LinkType {
    number: 101,
    check_bytes: None,
};

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
pub enum Packet<'a> {
    /// A cell of user data; only the header is stored.
    Cell(CellHeader),
    /// An RM cell with its payload.
    Rm(CellHeader, &'a Rm),
    /// An AAL5 frame with its number of cells.
    Frame(CellHeader, u32, &'a Ip),
    /// An Ethernet frame.
    Ethernet(&'a Ip),
    /// An IP packet.
    Ip(&'a Ip),
}

/// Header of a cell, or of the cells of a frame.
#[derive(Clone, Copy, Debug)]
pub struct CellHeader {
    /// Index of the VC.
    pub vc: usize,
    /// AAU, the last bit of the payload type: the cell ends an AAL5 frame.
    pub ends_frame: bool,
    /// CLP bit.
    pub low_priority: bool,
}

/// An IP packet.
#[derive(Clone, Copy, Debug)]
pub struct Ip {
    /// Indices of the source and destination host.
    pub hosts: [usize; 2],
    /// Identification.
    pub id: u16,
    /// Ports of source and destination.
    pub ports: [u16; 2],
    /// Number of the first byte of data, which selects the filler bytes.
    pub first_byte: u64,
    /// Bytes of data.
    pub len: u32,
    /// TCP header; `None` for UDP.
    pub tcp: Option<Tcp>,
}

/// Header of a TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    /// Sequence and acknowledgement numbers.
    pub numbers: [u32; 2],
    /// Whether SYN is set.
    pub syn: bool,
    /// Whether ACK is set.
    pub ack: bool,
    /// Window, after scaling.
    pub window: u16,
    /// Options.
    pub options: Options,
}

/// Options of a TCP header, a multiple of 4 octets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    octets: [[u8; 4]; 10],
    words: usize,
}

impl Options {
    /// Appends an option, padded to a multiple of 4 octets. All options together have at most 40
    /// octets.
    pub fn push(&mut self, octets: &[u8]) {
        for word in octets.as_chunks().0 {
            self.octets[self.words] = *word;
            self.words += 1;
        }
    }

    /// The octets.
    pub fn as_slice(&self) -> &[u8] {
        self.octets[..self.words].as_flattened()
    }
}

/// VCIs below this one are reserved (ITU-T I.361).
const FIRST_VCI: usize = 32;
const VCIS: usize = 65_536 - FIRST_VCI;

/// VPI and VCI of VC number `vc`, in both directions.
pub fn vpi_vci(vc: usize) -> (u8, u16) {
    ((vc / VCIS) as u8, (FIRST_VCI + vc % VCIS) as u16)
}

/// IPv4 address of host number `host`, counted from 10.0.0.1.
pub fn address(host: usize) -> [u8; 4] {
    (0x0A00_0001 + host as u32).to_be_bytes()
}

/// Octets of the ERF header, and the largest length in its 16-bit fields.
const ERF_HEADER: usize = 16;
const MOST_ERF: usize = 65_535;
const ERF_ATM: u8 = 3;
const ERF_AAL5: u8 = 4;
/// Flag of records with varying length.
const ERF_VARYING: u8 = 0x04;

/// Appends `packet`, which passed at a time of this clock, to `out`. Returns the octets of the full packet, which
/// may exceed those stored.
pub fn append(packet: &Packet<'_>, time: (Time, Clock), out: &mut Vec<u8>) -> u32 {
    // Cells and AAL5 frames are those of ATM.
    let payload = Format::AAL5.cell_payload_bytes as usize;
    match packet {
        Packet::Cell(header) => {
            let atm = atm_header(header, u8::from(header.ends_frame));
            let lengths = [ERF_HEADER + 4, 4 + payload];
            append_headers(ERF_ATM, time, lengths, atm, out);
            (ERF_HEADER + 4 + payload) as u32
        }
        Packet::Rm(header, rm) => {
            let lengths = [ERF_HEADER + 4 + payload, 4 + payload];
            append_headers(ERF_ATM, time, lengths, atm_header(header, 0b110), out);
            out.extend(rm.encode());
            (ERF_HEADER + 4 + payload) as u32
        }
        Packet::Frame(header, cells, ip) => {
            let pdu = *cells as usize * payload;
            let whole = ERF_HEADER + 4 + pdu;
            let kept = whole.min(MOST_ERF);
            let begin = out.len();
            let lengths = [kept, (4 + pdu).min(MOST_ERF)];
            append_headers(ERF_AAL5, time, lengths, atm_header(header, 1), out);
            append_aal5(ip, pdu, out);
            out.truncate(begin + kept);
            whole as u32
        }
        Packet::Ethernet(ip) => append_ethernet(ip, out),
        Packet::Ip(ip) => append_ip(ip, out),
    }
}

/// Appends the header of an ERF record and the ATM header after it.
fn append_headers(
    kind: u8,
    (time, clock): (Time, Clock),
    [kept, on_wire]: [usize; 2],
    atm: [u8; 4],
    out: &mut Vec<u8>,
) {
    // Fixed point, least significant octet first: 32 bits of fraction, then the whole seconds.
    let second = clock.ticks_per_second;
    let seconds = (time.0 / second) as u32;
    let fraction = ((time.0 % second) as f64 * ((1u64 << 32) as f64 / second as f64)) as u32;
    let mut header = [0; ERF_HEADER + 4];
    header[..4].copy_from_slice(&fraction.to_le_bytes());
    header[4..8].copy_from_slice(&seconds.to_le_bytes());
    header[8..10].copy_from_slice(&[kind, ERF_VARYING]);
    header[10..12].copy_from_slice(&(kept as u16).to_be_bytes());
    header[14..16].copy_from_slice(&(on_wire as u16).to_be_bytes());
    header[16..].copy_from_slice(&atm);
    out.extend(header);
}

fn atm_header(header: &CellHeader, payload_type: u8) -> [u8; 4] {
    let (vpi, vci) = vpi_vci(header.vc);
    let last = payload_type << 1 | u8::from(header.low_priority);
    (u32::from(vpi) << 20 | u32::from(vci) << 4 | u32::from(last)).to_be_bytes()
}

/// LLC/SNAP header of IP.
const LLC_SNAP: [u8; 8] = [0xAA, 0xAA, 0x03, 0, 0, 0, 0x08, 0];

/// Generator of CRC-32 without its leading term (ITU-T I.363.5).
const GENERATOR: u32 = 0x04C1_1DB7;

/// Number of octets processed at once.
const AT_ONCE: usize = 16;

/// Contribution to the CRC of an octet value, by the number of octets that follow within a chunk.
const REMAINDERS: [[u32; 256]; AT_ONCE] = {
    let mut remainders = [[0; 256]; AT_ONCE];
    let mut octet = 0;
    while octet < 256 {
        let mut register = (octet as u32) << 24;
        let mut bit = 0;
        while bit < 8 * AT_ONCE {
            let leads = register >> 31 == 1;
            register = register << 1 ^ if leads { GENERATOR } else { 0 };
            bit += 1;
            if bit % 8 == 0 {
                remainders[bit / 8 - 1][octet] = register;
            }
        }
        octet += 1;
    }
    remainders
};

/// The CRC-32 of the octets that `each` makes of these, most significant bit first.
fn crc32(octets: &[u8], each: impl Fn(u8) -> u8) -> u32 {
    let (chunks, rest) = octets.as_chunks::<AT_ONCE>();
    let register = chunks.iter().fold(!0, |register: u32, chunk| {
        let mut octets = chunk.map(&each);
        for (octet, moved) in octets.iter_mut().zip(register.to_be_bytes()) {
            *octet ^= moved;
        }
        let of = |place: usize| REMAINDERS[AT_ONCE - 1 - place][usize::from(octets[place])];
        // The register octets come last, so that only their sum waits for the previous chunk.
        (0..AT_ONCE).rev().fold(0, |sum, place| sum ^ of(place))
    });
    !rest.iter().fold(register, |register, &octet| {
        register << 8 ^ REMAINDERS[0][usize::from((register >> 24) as u8 ^ each(octet))]
    })
}

/// The CRC-32 of AAL5.
fn aal5_crc(octets: &[u8]) -> u32 {
    crc32(octets, |octet| octet)
}

/// The CRC-32 of Ethernet: that of AAL5, with the least significant bit of each octet first.
fn ethernet_crc(octets: &[u8]) -> u32 {
    crc32(octets, u8::reverse_bits).reverse_bits()
}

/// Appends an AAL5 CPCS-PDU of `octets`.
fn append_aal5(ip: &Ip, octets: usize, out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend(LLC_SNAP);
    append_ip(ip, out);
    let length = (out.len() - begin) as u16;
    // Padding, then UU, CPI, length and CRC.
    out.resize(begin + octets - 8, 0);
    out.extend([0, 0]);
    out.extend(length.to_be_bytes());
    let crc = aal5_crc(&out[begin..]);
    out.extend(crc.to_be_bytes());
}

/// Octets of an Ethernet header.
const ETHERNET_HEADER: usize = 14;
const TYPE_IP: [u8; 2] = [0x08, 0x00];

/// MAC address of host number `host`: 02:00, which makes it locally administered, and the IPv4
/// address.
fn mac_address(host: usize) -> [u8; 6] {
    let [a, b, c, d] = address(host);
    [0x02, 0, a, b, c, d]
}

/// Appends an Ethernet frame from its destination address to its check sequence. Returns its
/// octets.
fn append_ethernet(ip: &Ip, out: &mut Vec<u8>) -> u32 {
    let begin = out.len();
    out.extend(mac_address(ip.hosts[1]));
    out.extend(mac_address(ip.hosts[0]));
    out.extend(TYPE_IP);
    append_ip(ip, out);
    let shortest = begin + ETHERNET_HEADER + ETHERNET_LEAST as usize;
    out.resize(out.len().max(shortest), 0);
    let crc = ethernet_crc(&out[begin..]);
    out.extend(crc.to_le_bytes());
    (out.len() - begin) as u32
}

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const TCP: u8 = 6;
const UDP: u8 = 17;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// Appends an IP packet. Returns its octets.
fn append_ip(ip: &Ip, out: &mut Vec<u8>) -> u32 {
    let (protocol, header) = match &ip.tcp {
        Some(tcp) => (TCP, TCP_HEADER + tcp.options.as_slice().len()),
        None => (UDP, UDP_HEADER),
    };
    let length = header + ip.len as usize;
    let mut first = [0; IP_HEADER];
    first[0] = 0x45;
    first[2..4].copy_from_slice(&((IP_HEADER + length) as u16).to_be_bytes());
    first[4..6].copy_from_slice(&ip.id.to_be_bytes());
    // Don't fragment; TTL 64.
    first[6] = 0x40;
    first[8..10].copy_from_slice(&[64, protocol]);
    first[12..16].copy_from_slice(&address(ip.hosts[0]));
    first[16..20].copy_from_slice(&address(ip.hosts[1]));
    let checksum = folded(sum(&first));
    first[10..12].copy_from_slice(&checksum.to_be_bytes());
    out.extend(first);
    let begin = out.len();
    out.extend(ip.ports[0].to_be_bytes());
    out.extend(ip.ports[1].to_be_bytes());
    let at = match &ip.tcp {
        Some(tcp) => {
            let flags = if tcp.syn { SYN } else { 0 } | if tcp.ack { ACK } else { 0 };
            out.extend(tcp.numbers[0].to_be_bytes());
            out.extend(tcp.numbers[1].to_be_bytes());
            out.extend([(header as u8 / 4) << 4, flags]);
            out.extend(tcp.window.to_be_bytes());
            out.extend([0; 4]);
            out.extend(tcp.options.as_slice());
            begin + 16
        }
        None => {
            out.extend((length as u16).to_be_bytes());
            out.extend([0; 2]);
            begin + 6
        }
    };
    fill(ip.first_byte, ip.len as usize, out);
    let pseudo = sum(&first[12..20]) + u64::from(protocol) + length as u64;
    let checksum = match folded(pseudo + sum(&out[begin..])) {
        // In UDP a checksum of 0 means none.
        0 if ip.tcp.is_none() => 0xFFFF,
        checksum => checksum,
    };
    out[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    (IP_HEADER + length) as u32
}

/// Filler for data, which are not simulated. Byte n of a connection is always the same.
const FILLING: &[u8; 16] = b"(not simulated) ";

/// Repeated filler, to copy from.
const FILLINGS: [u8; 1024] = {
    let mut fillings = [0; 1024];
    let mut at = 0;
    while at < fillings.len() {
        fillings[at] = FILLING[at % FILLING.len()];
        at += 1;
    }
    fillings
};

fn fill(first_byte: u64, mut len: usize, out: &mut Vec<u8>) {
    let begin = (first_byte % FILLING.len() as u64) as usize;
    let most = FILLINGS.len() - FILLING.len();
    while len > 0 {
        let n = len.min(most);
        out.extend(&FILLINGS[begin..begin + n]);
        len -= n;
    }
}

/// Sum of 16-bit words, most significant octet first, before the carries are folded in (RFC 1071).
fn sum(octets: &[u8]) -> u64 {
    let words = octets.chunks_exact(4);
    let mut last = [0; 4];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let word = |word: &[u8]| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    words.map(word).sum::<u64>() + word(&last)
}

/// Internet checksum for this sum.
fn folded(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum >> 16) + (sum & 0xFFFF);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::abr::SAMPLE;

    const HEADER: CellHeader = CellHeader {
        vc: 3,
        ends_frame: true,
        low_priority: false,
    };

    fn ip(len: u32, is_tcp: bool) -> Ip {
        let tcp = Tcp {
            numbers: [514, 1],
            syn: false,
            ack: true,
            window: 65_535,
            options: Options::default(),
        };
        Ip {
            hosts: [0, 1],
            id: 7,
            ports: [1024, 5001],
            first_byte: 513,
            len,
            tcp: is_tcp.then_some(tcp),
        }
    }

    /// The stored octets of a packet, and the octets of the full packet.
    fn octets(packet: &Packet<'_>, time: Time) -> (Vec<u8>, usize) {
        let mut out = Vec::new();
        let whole = append(packet, (time, Clock::AAL5), &mut out);
        (out, whole as usize)
    }

    /// Example of RFC 1071 section 3: the words 0001 f203 f4f5 f6f7 add up to ddf2.
    #[test]
    fn the_checksum_of_the_rfc() {
        let words = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(folded(sum(&words)), !0xddf2);
        assert_eq!(folded(sum(&[0x12])), !0x1200);
    }

    #[test]
    fn the_crcs_of_the_usual_vector() {
        assert_eq!(aal5_crc(b"123456789"), 0xFC89_1918);
        assert_eq!(ethernet_crc(b"123456789"), 0xCBF4_3926);
        assert_eq!([aal5_crc(b""), ethernet_crc(b"")], [0, 0]);
        // Compares with a CRC computed bit by bit.
        let octets: Vec<u8> = (0..=255).collect();
        for n in 0..octets.len() {
            let by_one = octets[..n].iter().fold(!0, |register: u32, &octet| {
                let first = register ^ u32::from(octet) << 24;
                (0..8).fold(first, |r, _| {
                    r << 1 ^ if r >> 31 == 1 { GENERATOR } else { 0 }
                })
            });
            assert_eq!(aal5_crc(&octets[..n]), !by_one);
        }
    }

    /// With the checksum in place, the words of a header, or of a datagram with its pseudo-header,
    /// add up to ffff.
    #[test]
    fn checksums_cover_headers_and_data() {
        for len in [0, 1, 2, 3, 512, 9140] {
            for is_tcp in [true, false] {
                let (bytes, whole) = octets(&Packet::Ip(&ip(len, is_tcp)), Time::ZERO);
                assert_eq!(whole, bytes.len());
                assert_eq!(folded(sum(&bytes[..IP_HEADER])), 0);
                let length = (bytes.len() - IP_HEADER) as u64;
                let pseudo = sum(&bytes[12..20]) + u64::from(bytes[9]) + length;
                assert_eq!(folded(pseudo + sum(&bytes[IP_HEADER..])), 0, "{len}");
                assert_eq!(
                    u16::from_be_bytes([bytes[2], bytes[3]]) as usize,
                    bytes.len()
                );
            }
        }
        let (bytes, _) = octets(&Packet::Ip(&ip(20, true)), Time::ZERO);
        assert_eq!(&bytes[40..], b"not simulated) (not ");
    }

    #[test]
    fn a_cell_is_its_header_and_an_rm_cell_all_of_it() {
        let low = CellHeader {
            low_priority: true,
            ..HEADER
        };
        // One and a half seconds.
        let time = Time(Clock::AAL5.ticks_per_second * 3 / 2);
        let (cell, whole) = octets(&Packet::Cell(low), time);
        let expected = [
            [0, 0, 0, 0x80, 1, 0, 0, 0],
            // Record type, flags, 20 octets kept, no losses, 52 on the wire; VPI 0, VCI 35, PTI 1, CLP 1.
            [3, 4, 0, 20, 0, 0, 0, 52],
        ];
        assert_eq!(cell[..16], expected.concat());
        assert_eq!(cell[16..], [0, 0, 0x02, 0x33]);
        assert_eq!(whole, 68);
        let (cell, whole) = octets(&Packet::Rm(HEADER, &SAMPLE), time);
        assert_eq!(cell[16..20], [0, 0, 0x02, 0x3C]);
        assert_eq!(cell[20..], SAMPLE.encode());
        assert_eq!(whole, 68);
    }

    #[test]
    fn vcs_beyond_the_vcis_take_the_next_path() {
        assert_eq!(vpi_vci(0), (0, 32));
        assert_eq!(vpi_vci(65_503), (0, 65_535));
        assert_eq!(vpi_vci(65_504), (1, 32));
        assert_eq!(address(0), [10, 0, 0, 1]);
        assert_eq!(address(255), [10, 0, 1, 0]);
    }

    /// An ACK has 40 octets, plus 8 of LLC/SNAP, padded to two cells with a trailer of 8 at the
    /// end.
    #[test]
    fn a_frame_is_padded_to_whole_cells_and_ends_with_its_trailer() {
        let (out, whole) = octets(&Packet::Frame(HEADER, 2, &ip(0, true)), Time::ZERO);
        assert_eq!(whole, 116);
        let pdu = &out[20..];
        assert_eq!(pdu.len(), 96);
        assert_eq!(pdu[..8], LLC_SNAP);
        assert_eq!(pdu[48..88], [0; 40]);
        assert_eq!(pdu[88..92], [0, 0, 0, 48]);
        assert_eq!(aal5_crc(&pdu[..92]).to_be_bytes(), pdu[92..]);
    }

    /// Worked by hand from IEEE 802.3 clause 3 and the headers of IP and TCP. An ACK of 40 octets is
    /// padded to 46. The check sequence of the 60 octets before it is 6dd6f094.
    #[test]
    fn an_ethernet_frame_octet_by_octet() {
        let (out, whole) = octets(&Packet::Ethernet(&ip(0, true)), Time::ZERO);
        let expected: [&[u8]; 7] = [
            // From host 0 to host 1, with an IP packet.
            &[0x02, 0, 10, 0, 0, 2, 0x02, 0, 10, 0, 0, 1, 0x08, 0],
            // IPv4, 40 octets, number 7, not to be fragmented, TTL 64, TCP, checksum.
            &[0x45, 0, 0, 40, 0, 7, 0x40, 0, 64, 6, 0x26, 0xC7],
            &[10, 0, 0, 1, 10, 0, 0, 2],
            // Ports 1024 and 5001; sequence and acknowledgement numbers.
            &[0x04, 0, 0x13, 0x89, 0, 0, 0x02, 0x02, 0, 0, 0, 0x01],
            // 5 words, ACK, window, checksum, urgent pointer.
            &[0x50, 0x10, 0xFF, 0xFF, 0x82, 0x46, 0, 0],
            &[0; 6],
            &[0x94, 0xF0, 0xD6, 0x6D],
        ];
        assert_eq!((out, whole), (expected.concat(), 64));
    }

    /// From 46 octets of packet on, nothing is padded.
    #[test]
    fn an_ethernet_frame_is_as_long_as_its_packet_makes_it() {
        let frames = [
            (0, 64),
            (6, 64),
            (7, 65),
            (1_460, 1_518),
            (8_960, 9_018),
            (65_495, 65_553),
        ];
        for (len, whole) in frames {
            let (out, octets) = octets(&Packet::Ethernet(&ip(len, true)), Time::ZERO);
            assert_eq!((octets, out.len()), (whole, whole));
            let size = Format::ethernet(65_535).segment(u64::from(len));
            // Preamble and gap are not captured.
            assert_eq!(size.line_bytes(), whole as u64 + 8 + 12);
            // With the check sequence, every frame has the same remainder.
            assert_eq!(ethernet_crc(&out), 0x2144_DF1C);
        }
    }

    #[test]
    fn a_frame_that_is_longer_than_a_record_can_be_is_cut() {
        let datagram = ip(65_499, false);
        let (out, whole) = octets(&Packet::Frame(HEADER, 1366, &datagram), Time::ZERO);
        assert_eq!((whole, out.len()), (65_588, MOST_ERF));
    }
}
