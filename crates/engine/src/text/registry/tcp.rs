//! Parameters of a TCP, with its recoveries.

use super::component::{Parameter, parameter};
use super::family::Family;
use super::kind::Default::{Bool, Derived, Integer, Multiple, Text};
use super::kind::{
    ANY_DURATION, Choice, Kind, MAX_DURATION_NS, MICROSECOND_NS, bytes, choice, duration, integer,
};
use crate::ground::format::MOST_SEGMENT;

/// Timer settings: at least a microsecond.
const TIMER: Kind = duration(MICROSECOND_NS, MAX_DURATION_NS);

/// Largest window with window scaling (RFC 1323, section 2.3), rounded up to a power of two.
const MAX_WINDOW: u64 = 1 << 30;

const RECOVERIES: &[Choice] = &[
    Choice {
        name: "vanilla",
        help: "Slow start and congestion avoidance; only the timer repairs losses.",
        formula: "timeout: ssthresh = max(2 MSS, min(cwnd / 2, rwnd)), cwnd = MSS, go back to the first unacknowledged byte",
        source: "`ubr-plus`, section 2; Jacobson, Congestion avoidance and control, SIGCOMM 1988",
        limits: "Every loss waits for the retransmission timer and its coarse ticks.",
        ..choice("", "")
    },
    Choice {
        name: "tahoe",
        help: "Vanilla with fast retransmit: duplicate ACKs start slow start without waiting for the timer.",
        formula: "third duplicate ACK: ssthresh = max(2 MSS, min(cwnd, rwnd) / 2), also at a timeout; cwnd = MSS, resend the missing segment",
        source: "Jacobson 1988; Fall and Floyd, Simulation-based comparisons of Tahoe, Reno and SACK TCP, CCR 26(3), 1996",
        limits: "Each loss resets the window to one segment.",
        options: &["dupack_threshold"],
        ..choice("", "")
    },
    Choice {
        name: "reno",
        help: "Fast retransmit and fast recovery; the first new ACK ends the recovery.",
        formula: "third duplicate ACK: halve ssthresh, resend the missing segment, cwnd = ssthresh + 3 MSS, \
                  + MSS per further duplicate; first new ACK: cwnd = ssthresh",
        source: "RFC 2001, sections 3 and 4",
        limits: "Several losses in one window usually cause a timeout. Duplicates of data already received can start a needless recovery.",
        options: &["dupack_threshold", "reno_fast_retransmit", "reno_window"],
        ..choice("", "")
    },
    Choice {
        name: "new-reno",
        help: "Reno whose recovery lasts until all data sent before it are acknowledged: one hole per round trip.",
        formula: "partial ACK: resend the next hole, cwnd := cwnd - acknowledged bytes + MSS; ACK of all data sent before the recovery: leave it",
        source: "RFC 6582, section 3.2",
        limits: "Only one lost segment is repaired per round trip.",
        options: &["dupack_threshold"],
        ..choice("", "")
    },
    Choice {
        name: "sack",
        help: "Selective acknowledgements: holes are retransmitted while the pipe has room.",
        formula: "in recovery, send while pipe < cwnd: holes first, then new data",
        source: "RFC 2018; Fall and Floyd 1996; RFC 6675",
        limits: "A lost retransmission waits for the timer; limited transmit is not modelled.",
        options: &["dupack_threshold", "sack_blocks", "sack_pipe"],
        ..choice("", "")
    },
];

/// Defaults of a TCP by name. Text, table and tests of `docs/components/tcp.md` follow from them.
const PROFILES: &[Choice] = &[
    choice(
        "1996",
        "The defaults of each field: TCPs of the studies, without later extensions.",
    ),
    Choice {
        name: "linux",
        help: "Defaults near those of Linux since 2011: SACK, a window of 10 segments, and timers in milliseconds.",
        source: "RFC 6298; RFC 6928; Linux, include/net/tcp.h, and tcp_rmem of 6 MB",
        limits: "Congestion avoidance is that of RFC 2001, not CUBIC; no RACK, tail loss probe or limited transmit. \
                 Slow start counts ACKs, not bytes, and the first ACKs are delayed as all others. \
                 `rwnd` is fixed, not adjusted; delayed ACKs leave at ticks.",
        sets: &[
            ("recovery", Text("sack")),
            ("rwnd", Text("6 MB")),
            ("initial_window", Integer(10)),
            ("granularity", Text("1 ms")),
            ("min_rto", Text("200 ms")),
            ("initial_rto", Text("1 s")),
            ("estimator", Text("rfc6298")),
            ("delayed_ack", Text("40 ms")),
            ("handshake", Bool(true)),
        ],
        ..choice("", "")
    },
];

pub(super) const TCP: &[Parameter] = &[
    parameter(
        "profile",
        Kind::Choice(PROFILES),
        Text("1996"),
        "Defaults of the other fields. A field that is stated has its stated value.",
    ),
    parameter(
        "recovery",
        Kind::Choice(RECOVERIES),
        Text("reno"),
        "Loss recovery of the sender.",
    ),
    parameter(
        "mss",
        bytes(1, MOST_SEGMENT),
        Text("512 bytes"),
        "Maximum segment size, in bytes of data. At most 65487 in aal5, and `mtu` - 40 in ethernet.",
    ),
    parameter(
        "rwnd",
        bytes(1, MAX_WINDOW),
        Text("65535 bytes"),
        "Receiver window; at least one segment. More than 65535 bytes implies window scaling (RFC 1323).",
    ),
    parameter(
        "initial_window",
        integer(1, 1_000_000),
        Integer(1),
        "Initial congestion window, in segments.",
    ),
    parameter(
        "initial_ssthresh",
        bytes(1, MAX_WINDOW),
        Derived("rwnd"),
        "Initial slow-start threshold.",
    ),
    parameter(
        "granularity",
        TIMER,
        Text("100 ms"),
        "Tick length of the coarse timer; ticks fall on `timer_phase` + k granularity.",
    ),
    parameter(
        "min_rto",
        TIMER,
        Multiple(2, "granularity"),
        "Smallest retransmission timeout; at least one tick.",
    ),
    parameter(
        "initial_rto",
        TIMER,
        Text("3 s"),
        "Timeout before the first round-trip sample; at most `max_rto`.",
    ),
    parameter(
        "max_rto",
        TIMER,
        Text("64 s"),
        "Largest retransmission timeout, back-off included.",
    ),
    parameter(
        "estimator",
        Kind::Choice(&[
            Choice {
                name: "bsd",
                help: "Fixed-point arithmetic on whole ticks: srtt is scaled by 8, rttvar by 4.",
                formula: "RTO = srtt / 8 + rttvar, in ticks",
                source: "Jacobson 1988, appendix A; 4.3BSD",
                ..choice("", "")
            },
            Choice {
                name: "bsd-lite2",
                help: "`bsd` with the rules of 4.4BSD-Lite2 for missing samples. The first timeout makes the RTO four times \
                       `initial_rto`; the fourth in a row discards srtt.",
                formula: "RTO = srtt / 8 + rttvar, in ticks; at first srtt = 0, rttvar = 2 initial_rto",
                source: "4.4BSD-Lite2, tcp_newtcpcb, tcp_timers, tcp_xmit_timer",
                ..choice("", "")
            },
            Choice {
                name: "rfc6298",
                help: "Uses measured times, rounded up to the granularity.",
                formula: "RTO = SRTT + max(granularity, 4 RTTVAR)",
                source: "RFC 6298, section 2",
                ..choice("", "")
            },
        ]),
        Text("bsd"),
        "Round-trip estimator; only new data are timed, one segment at a time (Karn).",
    ),
    parameter(
        "delayed_ack",
        Kind::Duration {
            min_ns: MICROSECOND_NS,
            max_ns: MAX_DURATION_NS,
            none: true,
        },
        Derived("none: every segment is acknowledged at once"),
        "Interval between delayed-ACK ticks. Two waiting full segments are acknowledged without waiting for a tick.",
    ),
    parameter(
        "delayed_ack_phase",
        Kind::Choice(&[
            choice(
                "zero",
                "At multiples of `delayed_ack`, regardless of the phase of the coarse timer.",
            ),
            choice(
                "timer",
                "At `timer_phase` + k `delayed_ack`, like the fast and slow timers of 4.4BSD, which start together.",
            ),
        ]),
        Text("zero"),
        "When delayed-ACK ticks occur.",
    ),
    parameter(
        "dupack_threshold",
        integer(1, 1000),
        Integer(3),
        "Duplicate ACKs that start a fast retransmit.",
    ),
    parameter(
        "file_size",
        bytes(1, 1_000_000_000_000_000),
        Derived("unlimited"),
        "Size of each file; if omitted, the data never end.",
    ),
    parameter(
        "files",
        Kind::Number {
            min: 1,
            max: 1_000_000_000,
        },
        Integer(1),
        "Number of files of `file_size` to send, each after the previous one is acknowledged. With \"unlimited\", files continue until `stop` or the end of the run.",
    ),
    parameter(
        "file_gap",
        ANY_DURATION,
        Text("0 s"),
        "Time from the acknowledgement of a file's last byte to the start of the next file.",
    ),
    parameter(
        "next_file",
        Kind::Choice(&[
            choice(
                "new-connection",
                "Like a new connection: initial window and ssthresh, no round-trip samples.",
            ),
            choice(
                "same-connection",
                "On the connection of the previous file, with slow start: cwnd = MSS, and all other state is kept.",
            ),
        ]),
        Text("new-connection"),
        "How each file after the first begins.",
    ),
    parameter(
        "handshake",
        Kind::Bool,
        Bool(false),
        "Whether each new connection opens with SYN, SYN-ACK and ACK, each as long as an ACK. The last segment of a file that ends its connection then has a FIN, which is acknowledged at once.",
    ),
    parameter(
        "both_ways",
        Kind::Bool,
        Bool(false),
        "Whether `to` also sends, on its own connection with these parameters. Data of each direction share the VC with the ACKs of the other.",
    ),
    parameter(
        "sack_blocks",
        integer(1, 4),
        Integer(3),
        "Maximum number of SACK blocks in one ACK (RFC 2018, section 3).",
    ),
    parameter(
        "sack_pipe",
        Kind::Choice(&[
            choice(
                "counter",
                "-1 per duplicate ACK, -2 per partial ACK, +1 per segment sent (Fall and Floyd 1996).",
            ),
            choice(
                "rfc6675",
                "Recomputed from the scoreboard (RFC 6675, section 4).",
            ),
        ]),
        Text("counter"),
        "How the sender counts data in flight during recovery.",
    ),
    parameter(
        "reno_fast_retransmit",
        Kind::Choice(&[
            choice("missing-segment", "The missing segment (RFC 2001)."),
            choice(
                "nothing",
                "Nothing; only the timer repairs the hole. For reproducing one published study.",
            ),
        ]),
        Text("missing-segment"),
        "What a fast retransmit sends.",
    ),
    parameter(
        "reno_window",
        Kind::Choice(&[
            choice(
                "rfc2001",
                "ssthresh is half of the window; the first new ACK sets cwnd = ssthresh.",
            ),
            choice(
                "bsd-lite2",
                "ssthresh is a whole number of segments. cwnd = ssthresh only if more duplicates came than start a recovery. The ACK also opens the window.",
            ),
        ]),
        Text("rfc2001"),
        "How Reno sets ssthresh, and cwnd at the end of a recovery.",
    ),
    parameter(
        "processing",
        Kind::One(Family::Processing),
        Derived("no delay"),
        "Delay of every segment and ACK that the transport of this VC sends or receives.",
    ),
];
