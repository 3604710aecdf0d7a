//! TCP and UDP headers of captured frames: connections with their ports and numbers.
//!
//! The model numbers the bytes of all files of a VC consecutively (`host::tcp`). A capture has a
//! separate connection for each file that opens one. Numbers start from 0 for its SYN, so that
//! Wireshark can follow the connection.

use super::framing::{Ip, Options, Tcp};
use crate::ground::flow::FlowKind;
use crate::ground::format::{Format, FrameSize};
use crate::text::scenario::model::NextFile;
use crate::text::scenario::{Scenario, TcpParams, Traffic};

/// Contents of a frame.
#[derive(Clone, Debug)]
pub enum CapturedPayload {
    /// A SYN with this number.
    Syn(u64),
    /// The answer to a SYN, with the next byte expected. Sources offer it as an ACK.
    SynAck(u64),
    /// The ACK that completes a handshake, with the first byte of the connection. Sources may leave
    /// the byte open.
    Opened(u64),
    /// TCP data.
    Data {
        /// First byte.
        seq: u64,
        /// Bytes of data.
        len: u32,
    },
    /// A TCP acknowledgement.
    Ack {
        /// Next byte expected.
        ack: u64,
        /// SACK blocks: first byte, and one past the last byte.
        blocks: Vec<[u64; 2]>,
    },
    /// A UDP datagram.
    Datagram {
        /// First byte.
        first: u64,
        /// Bytes of data.
        len: u32,
    },
}

impl CapturedPayload {
    /// The frame.
    pub fn size(&self, format: Format) -> FrameSize {
        match *self {
            CapturedPayload::Ack { ref blocks, .. } => format.ack(blocks.len() as u8),
            CapturedPayload::Data { len, .. } => format.segment(u64::from(len)),
            CapturedPayload::Datagram { len, .. } => format.datagram(u64::from(len)),
            CapturedPayload::Syn(_) | CapturedPayload::SynAck(_) | CapturedPayload::Opened(_) => {
                format.ack(0)
            }
        }
    }

    /// Whether the sender of data sends this payload.
    fn is_of_sender(&self) -> bool {
        !matches!(
            self,
            CapturedPayload::SynAck(_) | CapturedPayload::Ack { .. }
        )
    }
}

/// First port number of clients of TCP. Data of the VC's `from` go to the first server port, data of
/// its `to` to the second.
const CLIENTS: u64 = 1024;
const SERVERS: [u16; 2] = [5001, 5002];

/// First port number of clients of UDP, and the server port. Wireshark gives the datagrams of some
/// lower ports, such as 5001, to a dissector that finds them malformed.
const UDP_CLIENTS: u64 = 60_002;
const UDP_SERVER: u16 = 60_000;

/// Maximum window shift (RFC 7323).
const MOST_SHIFT: u32 = 14;

/// An IP packet of a connection.
#[derive(Clone, Copy, Debug)]
pub struct CapturedSegment<'a> {
    /// The packet.
    pub ip: Ip,
    /// Number of the connection among those of its VC, per direction.
    connection: u64,
    params: Option<&'a TcpParams>,
    is_of_sender: bool,
}

impl<'a> CapturedSegment<'a> {
    /// The packet on the wire for `payload`, in frame `frame` of a flow of `vc`.
    pub fn new(
        scenario: &'a Scenario,
        vc: usize,
        (kind, hosts): (FlowKind, [usize; 2]),
        payload: &CapturedPayload,
        frame: u32,
    ) -> CapturedSegment<'a> {
        let params = match &scenario.vcs[vc].traffic {
            Traffic::Tcp(params) => Some(&**params),
            _ => None,
        };
        let (tcp, number) = params.map(|params| header(params, payload)).unzip();
        let number = number.unwrap_or(0);
        let (first_byte, len) = match *payload {
            CapturedPayload::Data { seq, len } => (seq, len),
            CapturedPayload::Datagram { first, len } => (first, len),
            _ => (0, 0),
        };
        let is_of_sender = payload.is_of_sender();
        // The VC's `from` sends the data of the first connection, the VC's `to` those of the
        // second.
        let back = usize::from((kind == FlowKind::Data) != is_of_sender);
        let vcs = scenario.vcs.len() as u64;
        let (clients, server) = match tcp {
            Some(_) => (CLIENTS, SERVERS[back]),
            None => (UDP_CLIENTS, UDP_SERVER),
        };
        let client = clients + (vc as u64 + number * vcs) % (65_536 - clients);
        let mut ports = [client as u16, server];
        if !is_of_sender {
            ports.reverse();
        }
        CapturedSegment {
            ip: Ip {
                hosts,
                id: frame as u16,
                ports,
                first_byte,
                len,
                tcp,
            },
            connection: 2 * number + back as u64,
            params,
            is_of_sender,
        }
    }

    /// Number and parameters of a connection that the model opens without a handshake.
    pub fn opened_unseen(&self) -> Option<(u64, &'a TcpParams)> {
        let params = self.params.filter(|params| !params.handshake);
        params.map(|params| (self.connection, params))
    }

    /// SYN, SYN-ACK and ACK of the connection.
    pub fn handshake(&self, params: &TcpParams) -> [Ip; 3] {
        let mut client = Ip {
            id: 0,
            first_byte: 0,
            len: 0,
            ..self.ip
        };
        let mut server = client;
        let answering = if self.is_of_sender {
            &mut server
        } else {
            &mut client
        };
        answering.hosts.reverse();
        answering.ports.reverse();
        let packet = |ip: Ip, payload| Ip {
            tcp: Some(header(params, &payload).0),
            ..ip
        };
        [
            packet(client, CapturedPayload::Syn(0)),
            packet(server, CapturedPayload::SynAck(0)),
            packet(client, CapturedPayload::Opened(0)),
        ]
    }
}

/// TCP header of a payload, and the number of its connection.
fn header(params: &TcpParams, payload: &CapturedPayload) -> (Tcp, u64) {
    let numbers = Numbers::of(params);
    let mut tcp = Tcp {
        numbers: [1, 1],
        syn: false,
        ack: true,
        window: u16::try_from(params.rwnd >> shift(params)).unwrap_or(u16::MAX),
        options: Options::default(),
    };
    let connection = match *payload {
        CapturedPayload::Syn(number) | CapturedPayload::SynAck(number) => {
            tcp.syn = true;
            tcp.ack = matches!(payload, CapturedPayload::SynAck(_));
            tcp.numbers = [0, u32::from(tcp.ack)];
            // The window of a SYN is not scaled.
            tcp.window = u16::try_from(params.rwnd).unwrap_or(u16::MAX);
            offer(params, &mut tcp.options);
            numbers.connection(number)
        }
        CapturedPayload::Opened(first) => numbers.connection(first),
        CapturedPayload::Data { seq, .. } => {
            let connection = numbers.connection(seq);
            tcp.numbers[0] = numbers.on_wire(connection, seq);
            connection
        }
        CapturedPayload::Ack { ack, ref blocks } => {
            let connection = numbers.connection(ack);
            tcp.numbers[1] = numbers.on_wire(connection, ack);
            if !blocks.is_empty() {
                tcp.options.push(&[1, 1, 5, 2 + 8 * blocks.len() as u8]);
            }
            for &byte in blocks.as_flattened() {
                let number = numbers.on_wire(connection, byte);
                tcp.options.push(&number.to_be_bytes());
            }
            connection
        }
        CapturedPayload::Datagram { .. } => unreachable!("a TCP sends none"),
    };
    (tcp, connection)
}

/// Appends the options of a SYN: MSS, window scale, SACK permitted.
fn offer(params: &TcpParams, options: &mut Options) {
    let mss = u16::try_from(params.mss).unwrap_or(u16::MAX).to_be_bytes();
    options.push(&[2, 4, mss[0], mss[1]]);
    options.push(&[1, 3, 3, shift(params) as u8]);
    if params.recovery.reads_blocks() {
        options.push(&[1, 1, 4, 2]);
    }
}

/// Right shift with which a window fits into 16 bits.
fn shift(params: &TcpParams) -> u32 {
    let bits = u64::BITS - params.rwnd.leading_zeros();
    bits.saturating_sub(u16::BITS).min(MOST_SHIFT)
}

/// Division of a VC's numbers among its connections.
struct Numbers {
    /// Numbers per connection, including SYN and end; `u64::MAX` for a single connection.
    each: u64,
    /// 1 if SYNs have no number, else 0.
    without_syn: u64,
}

impl Numbers {
    fn of(params: &TcpParams) -> Numbers {
        let syn = u64::from(params.handshake);
        let each = match (params.next_file, params.file_size) {
            (NextFile::NewConnection, Some(size)) => size + syn + 1,
            _ => u64::MAX,
        };
        Numbers {
            each,
            without_syn: 1 - syn,
        }
    }

    fn connection(&self, number: u64) -> u64 {
        number / self.each
    }

    /// A number as in a header, where that of the SYN is 0.
    fn on_wire(&self, connection: u64, number: u64) -> u32 {
        (number - connection * self.each + self.without_syn) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(change: impl FnOnce(&mut TcpParams)) -> TcpParams {
        let mut params = TcpParams {
            mss: 512,
            rwnd: 65_535,
            ..TcpParams::default()
        };
        change(&mut params);
        params
    }

    /// Worked by hand, with files of 100 bytes. Without a handshake, bytes 0 to 99 belong to the
    /// first file, 100 is its end, and 101 to 200 belong to the second. With a handshake, 0 is the
    /// SYN, 1 to 100 are bytes, 101 is the end and 102 the next SYN.
    #[test]
    fn each_file_on_a_connection_of_its_own_is_counted_from_its_syn() {
        let files = |handshake| {
            params(|p| {
                p.file_size = Some(100);
                p.next_file = NextFile::NewConnection;
                p.handshake = handshake;
            })
        };
        let found = |handshake, number| {
            let numbers = Numbers::of(&files(handshake));
            let connection = numbers.connection(number);
            (connection, numbers.on_wire(connection, number))
        };
        assert_eq!(found(false, 0), (0, 1));
        assert_eq!(found(false, 100), (0, 101));
        assert_eq!(found(false, 101), (1, 1));
        assert_eq!(found(true, 0), (0, 0));
        assert_eq!(found(true, 1), (0, 1));
        assert_eq!(found(true, 101), (0, 101));
        assert_eq!(found(true, 102), (1, 0));
        assert_eq!(found(true, 103), (1, 1));
    }

    #[test]
    fn a_window_is_shifted_until_it_fits() {
        let shifted = |rwnd| {
            let params = params(|p| p.rwnd = rwnd);
            (shift(&params), params.rwnd >> shift(&params))
        };
        assert_eq!(shifted(65_535), (0, 65_535));
        assert_eq!(shifted(65_536), (1, 32_768));
        assert_eq!(shifted(600_000), (4, 37_500));
        assert_eq!(shifted(1 << 40).0, 14);
    }

    /// RFC 2018 section 3: kind 5, length 8 n + 2 and the edges, after two octets of padding.
    #[test]
    fn blocks_stand_in_an_option() {
        let ack = CapturedPayload::Ack {
            ack: 512,
            blocks: vec![[1024, 1536]],
        };
        let (tcp, connection) = header(&params(|_| ()), &ack);
        assert_eq!((tcp.numbers, connection), ([1, 513], 0));
        assert_eq!(
            tcp.options.as_slice(),
            [1, 1, 5, 10, 0, 0, 4, 1, 0, 0, 6, 1]
        );
    }

    /// RFC 9293 section 3.5 and RFC 7323 section 2.2: a SYN offers MSS and scale, and its window is
    /// not scaled.
    #[test]
    fn a_syn_and_its_answer() {
        let params = params(|p| p.rwnd = 600_000);
        let (syn, _) = header(&params, &CapturedPayload::Syn(0));
        assert_eq!((syn.numbers, syn.syn, syn.ack), ([0, 0], true, false));
        assert_eq!(
            (syn.window, syn.options.as_slice()),
            (65_535, &[2, 4, 2, 0, 1, 3, 3, 4][..])
        );
        let (answer, _) = header(&params, &CapturedPayload::SynAck(0));
        assert_eq!(
            (answer.numbers, answer.syn, answer.ack),
            ([0, 1], true, true)
        );
        let (opened, _) = header(&params, &CapturedPayload::Opened(0));
        assert_eq!(
            (opened.numbers, opened.syn, opened.window),
            ([1, 1], false, 37_500)
        );
    }
}
