//! TCP and UDP headers of what frames carry: connections, their ports and numbers.
//!
//! The model counts the bytes of all files of a VC through (`host::tcp`). A capture has a connection
//! for each file that opens one, with numbers from 0 for its SYN, so that Wireshark can follow it.

use super::framing::{Ip, Tcp};
use crate::aal5::{ACK_CELLS, cells_of_datagram, cells_of_segment};
use crate::flow::FlowKind;
use crate::scenario::model::NextFile;
use crate::scenario::{Scenario, TcpParams, Traffic};

/// What a frame that a source has just offered carries.
#[derive(Clone, Debug)]
pub enum Payload {
    /// A segment of a TCP; a SYN where it has no data.
    Segment {
        /// First byte.
        seq: u64,
        /// Bytes of data.
        len: u32,
    },
    /// The ACK with which a connection is open.
    Opened,
    /// An acknowledgement of a TCP.
    Ack {
        /// Next byte expected.
        ack: u64,
        /// SACK blocks: first bytes, and those behind the last ones.
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

/// What a frame under way carries.
#[derive(Clone, Debug)]
pub enum Carried {
    /// A SYN with this number.
    Syn(u64),
    /// The answer to a SYN: the next byte expected.
    SynAck(u64),
    /// The ACK with which a connection is open whose first byte this is.
    Opened(u64),
    /// Data.
    Data { seq: u64, len: u32 },
    /// An ACK with its SACK blocks.
    Ack { ack: u64, blocks: Vec<[u64; 2]> },
    /// A UDP datagram.
    Datagram { first: u64, len: u32 },
}

impl Carried {
    /// Cells of the frame.
    pub fn cells(&self) -> u32 {
        match *self {
            Carried::Data { len, .. } => cells_of_segment(u64::from(len)),
            Carried::Datagram { len, .. } => cells_of_datagram(u64::from(len)),
            Carried::Syn(_) | Carried::SynAck(_) | Carried::Opened(_) | Carried::Ack { .. } => {
                ACK_CELLS
            }
        }
    }

    /// Whether the sender of data sends it.
    fn is_of_sender(&self) -> bool {
        match self {
            Carried::Syn(_) | Carried::Opened(_) | Carried::Data { .. } => true,
            Carried::Datagram { .. } => true,
            Carried::SynAck(_) | Carried::Ack { .. } => false,
        }
    }
}

/// Ports of clients begin here; data of the VC's `from` go to the first server, those of its `to` to the second.
const CLIENTS: u64 = 1024;
const SERVERS: [u16; 2] = [5001, 5002];

/// Octets of the options that one header can have.
const MOST_OPTIONS: usize = 40;
/// The largest shift of RFC 7323.
const MOST_SHIFT: u32 = 14;

/// An IP packet, with room for the options of its header.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    params: Option<&'a TcpParams>,
    hosts: [usize; 2],
    ports: [u16; 2],
    id: u16,
    first_byte: u64,
    len: u32,
    numbers: [u32; 2],
    syn: bool,
    ack: bool,
    options: ([u8; MOST_OPTIONS], usize),
    /// Number of the connection among those of its VC, each way.
    connection: u64,
    is_of_sender: bool,
}

impl<'a> Segment<'a> {
    /// What `carried`, in frame `frame` of a flow of `vc`, is on the wire.
    pub fn new(
        scenario: &'a Scenario,
        vc: usize,
        (kind, hosts): (FlowKind, [usize; 2]),
        carried: &Carried,
        frame: u32,
    ) -> Segment<'a> {
        let params = match &scenario.vcs[vc].traffic {
            Traffic::Tcp(params) => Some(&**params),
            _ => None,
        };
        let is_of_sender = carried.is_of_sender();
        // The VC's `from` sends the data of the first connection, its `to` those of the second.
        let back = usize::from((kind == FlowKind::Data) != is_of_sender);
        let mut segment = Segment {
            params,
            hosts,
            ports: [0; 2],
            id: frame as u16,
            first_byte: 0,
            len: 0,
            numbers: [1, 1],
            syn: false,
            ack: true,
            options: ([0; MOST_OPTIONS], 0),
            connection: 0,
            is_of_sender,
        };
        let mut number = 0;
        if let Some(params) = params {
            number = segment.fill_in(params, carried);
        } else if let Carried::Datagram { first, len } = *carried {
            (segment.first_byte, segment.len) = (first, len);
        }
        let vcs = scenario.vcs.len() as u64;
        let client = CLIENTS + (vc as u64 + number * vcs) % (65_536 - CLIENTS);
        let ports = [client as u16, SERVERS[back]];
        segment.ports = match is_of_sender {
            true => ports,
            false => [ports[1], ports[0]],
        };
        segment.connection = 2 * number + back as u64;
        segment
    }

    /// Fills in the TCP header; returns the number of the connection.
    fn fill_in(&mut self, params: &TcpParams, carried: &Carried) -> u64 {
        let numbers = Numbers::of(params);
        match carried {
            Carried::Syn(seq) => {
                (self.numbers, self.syn, self.ack) = ([0, 0], true, false);
                self.offer(params);
                numbers.connection(*seq)
            }
            Carried::SynAck(ack) => {
                (self.numbers, self.syn) = ([0, 1], true);
                self.offer(params);
                numbers.connection(*ack)
            }
            Carried::Opened(first) => numbers.connection(*first),
            Carried::Data { seq, len } => {
                let connection = numbers.connection(*seq);
                self.numbers[0] = numbers.on_wire(connection, *seq);
                (self.first_byte, self.len) = (*seq, *len);
                connection
            }
            Carried::Ack { ack, blocks } => {
                let connection = numbers.connection(*ack);
                self.numbers[1] = numbers.on_wire(connection, *ack);
                let blocks = blocks
                    .iter()
                    .map(|block| block.map(|byte| numbers.on_wire(connection, byte)));
                self.acknowledge(blocks);
                connection
            }
            Carried::Datagram { .. } => 0,
        }
    }

    fn option(&mut self, octets: &[u8]) {
        let (options, n) = &mut self.options;
        options[*n..*n + octets.len()].copy_from_slice(octets);
        *n += octets.len();
    }

    /// The options of a SYN: MSS, window scale, SACK permitted.
    fn offer(&mut self, params: &TcpParams) {
        let mss = u16::try_from(params.mss).unwrap_or(u16::MAX).to_be_bytes();
        self.option(&[2, 4, mss[0], mss[1]]);
        self.option(&[1, 3, 3, shift(params) as u8]);
        if params.recovery.reads_blocks() {
            self.option(&[1, 1, 4, 2]);
        }
    }

    /// The option with SACK blocks.
    fn acknowledge(&mut self, blocks: impl ExactSizeIterator<Item = [u32; 2]>) {
        if blocks.len() == 0 {
            return;
        }
        self.option(&[1, 1, 5, 2 + 8 * blocks.len() as u8]);
        for number in blocks.flatten() {
            self.option(&number.to_be_bytes());
        }
    }

    /// The number of its connection; `None` for UDP.
    pub fn connection(&self) -> Option<u64> {
        self.params.map(|_| self.connection)
    }

    /// Whether the model opens its connection without a handshake.
    pub fn opens_unseen(&self) -> bool {
        self.params.is_some_and(|params| !params.handshake)
    }

    /// SYN, SYN-ACK and ACK of its connection.
    pub fn handshake(&self) -> [Segment<'a>; 3] {
        let params = self.params.expect("a TCP");
        let (mut hosts, mut ports) = (self.hosts, self.ports);
        if !self.is_of_sender {
            hosts.reverse();
            ports.reverse();
        }
        let client = Segment {
            hosts,
            ports,
            id: 0,
            first_byte: 0,
            len: 0,
            numbers: [1, 1],
            options: ([0; MOST_OPTIONS], 0),
            ..*self
        };
        let [mut syn, mut answer] = [client; 2];
        (syn.numbers, syn.syn, syn.ack) = ([0, 0], true, false);
        syn.offer(params);
        (answer.numbers, answer.syn) = ([0, 1], true);
        answer.hosts.reverse();
        answer.ports.reverse();
        answer.offer(params);
        [syn, answer, client]
    }

    /// Whether it leaves `host`.
    pub fn leaves(&self, host: usize) -> bool {
        self.hosts[0] == host
    }

    /// The packet.
    pub fn ip(&self) -> Ip<'_> {
        let tcp = self.params.map(|params| {
            // The window of a SYN is not scaled.
            let shift = if self.syn { 0 } else { shift(params) };
            Tcp {
                numbers: self.numbers,
                syn: self.syn,
                ack: self.ack,
                window: u16::try_from(params.rwnd >> shift).unwrap_or(u16::MAX),
                options: &self.options.0[..self.options.1],
            }
        });
        Ip {
            hosts: self.hosts,
            id: self.id,
            ports: self.ports,
            first_byte: self.first_byte,
            len: self.len,
            tcp,
        }
    }
}

/// By how many bits a window must be shifted to fit in 16.
fn shift(params: &TcpParams) -> u32 {
    let bits = u64::BITS - params.rwnd.leading_zeros();
    bits.saturating_sub(u16::BITS).min(MOST_SHIFT)
}

/// How the numbers of a VC are divided among its connections.
struct Numbers {
    /// Numbers of a connection, its SYN and its end included; `u64::MAX` where there is only one.
    each: u64,
    /// 1 where no SYN has a number.
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

    /// A number as it stands in a header: that of the SYN is 0.
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

    /// Worked by hand: files of 100 bytes. Without a handshake bytes 0 to 99 are of the first and number 100 is its end, 101 to 200
    /// of the second; with one number 0 is the SYN, 1 to 100 the bytes, 101 the end, 102 the next SYN.
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

    /// RFC 2018, section 3: kind 5, length 8 n + 2, the edges; two octets of padding before.
    #[test]
    fn blocks_stand_in_an_option() {
        let ack = Carried::Ack {
            ack: 512,
            blocks: vec![[1024, 1536]],
        };
        let params = params(|_| ());
        let mut segment = Segment {
            params: Some(&params),
            hosts: [1, 0],
            ports: [5001, 1024],
            id: 0,
            first_byte: 0,
            len: 0,
            numbers: [1, 1],
            syn: false,
            ack: true,
            options: ([0; MOST_OPTIONS], 0),
            connection: 0,
            is_of_sender: false,
        };
        segment.fill_in(&params, &ack);
        let ip = segment.ip();
        let tcp = ip.tcp.expect("a TCP");
        assert_eq!(tcp.numbers, [1, 513]);
        assert_eq!(tcp.options, [1, 1, 5, 10, 0, 0, 4, 1, 0, 0, 6, 1]);
        let [syn, answer, opened] = segment.handshake();
        assert_eq!(syn.ip().hosts, [0, 1]);
        assert_eq!(syn.ip().tcp.expect("a TCP").numbers, [0, 0]);
        assert_eq!(answer.ip().ports, [5001, 1024]);
        assert_eq!(opened.ip().ports, [1024, 5001]);
    }
}
