//! Blocks of a pcapng file, least significant octet first.
//!
//! Source: PCAP Now Generic (pcapng) Capture File Format, draft-ietf-opsawg-pcapng.

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;

/// Option codes; most are meaningful in only one kind of block.
const END: u16 = 0;
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION: u16 = 3;
const SPEED: u16 = 8;
const RESOLUTION: u16 = 9;
const CHECK_SEQUENCE_LENGTH: u16 = 13;
const FLAGS: u16 = 2;

/// Octets of a packet block before the data.
const PACKET_HEAD: usize = 28;

/// Maximum number of octets in an option.
const MOST_OPTION: usize = 65_532;

/// Appends a block from its type to its second length; both lengths are filled in at the end.
fn block(kind: u32, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let length = (out.len() - begin + 4) as u32;
    out.extend(length.to_le_bytes());
    out[begin + 4..begin + 8].copy_from_slice(&length.to_le_bytes());
}

fn pad(out: &mut Vec<u8>, length: usize) {
    out.extend(&[0; 3][..length.wrapping_neg() % 4]);
}

fn option(code: u16, value: &[u8], out: &mut Vec<u8>) {
    let value = &value[..value.len().min(MOST_OPTION)];
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out, value.len());
}

fn end_of_options(out: &mut Vec<u8>) {
    out.extend(END.to_le_bytes());
    out.extend([0; 2]);
}

/// Appends the section header of a file: application and comments.
pub fn section(application: &str, comments: &[String], out: &mut Vec<u8>) {
    block(SECTION, out, |out| {
        out.extend(0x1A2B_3C4D_u32.to_le_bytes());
        // Version 1.0, with an unspecified section length.
        out.extend([1, 0, 0, 0]);
        out.extend([0xFF; 8]);
        for comment in comments {
            option(COMMENT, comment.as_bytes(), out);
        }
        option(APPLICATION, application.as_bytes(), out);
        end_of_options(out);
    });
}

/// Kind of the packets of an interface.
#[derive(Clone, Copy, Debug)]
pub struct LinkType {
    /// Number in the registry of link types.
    pub number: u16,
    /// Octets of the check sequence at the end of each packet, if the number leaves it open.
    pub check_bytes: Option<u8>,
}

/// Appends an interface. Interfaces are numbered in the order of writing.
pub fn interface(
    link_type: LinkType,
    name: &str,
    description: &str,
    bits_per_second: Option<u64>,
    out: &mut Vec<u8>,
) {
    block(INTERFACE, out, |out| {
        out.extend(link_type.number.to_le_bytes());
        // Packets have no length limit.
        out.extend([0; 6]);
        option(INTERFACE_NAME, name.as_bytes(), out);
        option(INTERFACE_DESCRIPTION, description.as_bytes(), out);
        // Times are in nanoseconds.
        option(RESOLUTION, &[9], out);
        if let Some(speed) = bits_per_second {
            option(SPEED, &speed.to_le_bytes(), out);
        }
        if let Some(length) = link_type.check_bytes {
            option(CHECK_SEQUENCE_LENGTH, &[length], out);
        }
        end_of_options(out);
    });
}

/// Appends names of IPv4 addresses.
pub fn names<'a>(records: impl Iterator<Item = ([u8; 4], &'a str)>, out: &mut Vec<u8>) {
    const IPV4: u16 = 1;
    block(NAMES, out, |out| {
        for (address, name) in records {
            let length = address.len() + name.len() + 1;
            out.extend(IPV4.to_le_bytes());
            out.extend((length as u16).to_le_bytes());
            out.extend(address);
            out.extend(name.as_bytes());
            out.push(0);
            pad(out, length);
        }
        end_of_options(out);
    });
}

/// Direction of a packet, seen from the host of its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The packet reaches the host.
    Inbound = 1,
    /// The packet leaves the host.
    Outbound = 2,
}

/// Appends a packet that passed `interface` so many nanoseconds after the start. `data` appends its octets and returns the
/// length of the full packet. Returns where its options begin, for [`end_packet`].
pub fn packet(
    interface: u32,
    nanoseconds: u64,
    direction: Option<Direction>,
    comment: &str,
    out: &mut Vec<u8>,
    data: impl FnOnce(&mut Vec<u8>) -> u32,
) -> usize {
    let begin = out.len();
    out.extend([0; PACKET_HEAD]);
    let whole = data(out);
    let kept = out.len() - begin - PACKET_HEAD;
    pad(out, kept);
    let head = [
        PACKET,
        0,
        interface,
        (nanoseconds >> 32) as u32,
        nanoseconds as u32,
        kept as u32,
        whole,
    ];
    for (octets, word) in out[begin..].chunks_exact_mut(4).zip(head) {
        octets.copy_from_slice(&word.to_le_bytes());
    }
    let options = out.len();
    end_packet([begin, options], direction, comment, out);
    options
}

/// Writes the options and both lengths of the last packet, which lies at `begin`. Replaces all from
/// `options` on.
pub fn end_packet(
    [begin, options]: [usize; 2],
    direction: Option<Direction>,
    comment: &str,
    out: &mut Vec<u8>,
) {
    out.truncate(options);
    if let Some(direction) = direction {
        option(FLAGS, &(direction as u32).to_le_bytes(), out);
    }
    if !comment.is_empty() {
        option(COMMENT, comment.as_bytes(), out);
    }
    if direction.is_some() || !comment.is_empty() {
        end_of_options(out);
    }
    let length = (out.len() - begin + 4) as u32;
    out.extend(length.to_le_bytes());
    out[begin + 4..begin + 8].copy_from_slice(&length.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a block octet by octet: type, length, interface, time, lengths, data with padding,
    /// comment, length.
    #[test]
    fn a_packet_with_a_comment() {
        let mut out = Vec::new();
        packet(1, (1 << 32) + 5, None, "why", &mut out, |out| {
            out.extend([7, 8]);
            60
        });
        let words: Vec<u32> = out
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let why = u32::from_le_bytes(*b"why\0");
        let expected = [6, 48, 1, 1, 5, 2, 60, 0x0807, 0x0003_0001, why, 0, 48];
        assert_eq!(words, expected);
    }

    #[test]
    fn every_block_is_whole_words_and_ends_with_its_length() {
        for name in ["", "a", "ab", "abc", "abcd"] {
            let mut out = Vec::new();
            section(name, &[name.to_string(), "x".repeat(100_000)], &mut out);
            let link_type = LinkType {
                number: 1,
                check_bytes: Some(4),
            };
            interface(link_type, name, name, Some(1), &mut out);
            names([([10, 0, 0, 1], name)].into_iter(), &mut out);
            let both = Some(Direction::Inbound);
            packet(0, 0, both, name, &mut out, |_| 0);
            let mut kinds = Vec::new();
            let mut rest = &out[..];
            while !rest.is_empty() {
                let word = |at| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
                let length = word(4) as usize;
                kinds.push(word(0));
                assert_eq!((length % 4, word(length - 4) as usize), (0, length));
                rest = &rest[length..];
            }
            assert_eq!(kinds, [SECTION, INTERFACE, NAMES, PACKET]);
        }
    }
}
