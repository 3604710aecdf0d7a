//! The networks that are timed, written as users write them.

use cellyard_engine::scenario::{Scenario, read_toml};

/// Distances of the studies: delays, windows and length of the runs differ.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Lan,
    Wan,
    Satellite,
}

impl Place {
    fn duration(self) -> &'static str {
        match self {
            Place::Lan => "10 s",
            Place::Wan => "20 s",
            Place::Satellite => "40 s",
        }
    }

    /// Of the links to the hosts, and of the link between the switches.
    fn delays(self) -> (&'static str, &'static str) {
        match self {
            Place::Lan => ("5 us", "5 us"),
            Place::Wan => ("5 ms", "5 ms"),
            Place::Satellite => ("5 us", "275 ms"),
        }
    }

    /// Segment size and receiver window, bytes.
    fn tcp(self) -> (u64, u64) {
        match self {
            Place::Lan => (512, 65_535),
            Place::Wan => (512, 600_000),
            Place::Satellite => (9_180, 8_704_000),
        }
    }
}

/// N TCPs over two switches, all links at 155.52 Mb/s: figure 2 of the study `ubr-plus`, figure 3 of `guaranteed-rate`.
#[derive(Clone, Copy)]
pub struct Dumbbell {
    pub place: Place,
    pub sources: usize,
    /// K of the UBR queues; `None`: unlimited.
    pub buffer: Option<u64>,
    pub recovery: &'static str,
    /// A drop policy in TOML.
    pub drop: &'static str,
    /// Selective Drop with this Z instead of `drop`.
    pub z: Option<f64>,
    /// Lengths of VBR bursts and pauses at the full link rate, ms.
    pub vbr_ms: Option<u64>,
    pub scheduler: Scheduler,
}

/// The scheduler of all ports.
#[derive(Clone, Copy)]
pub enum Scheduler {
    StrictPriority,
    /// With this fraction for UBR.
    GuaranteedRate(f64),
    /// Of UBR, in turns of one cell.
    PerVc,
}

impl Scheduler {
    fn toml(self) -> String {
        match self {
            Scheduler::StrictPriority => "\"strict-priority\"".into(),
            Scheduler::GuaranteedRate(gr) => {
                format!("{{ kind = \"guaranteed-rate\", gr = {gr:?} }}")
            }
            Scheduler::PerVc => "\"per-vc\"".into(),
        }
    }
}

impl Dumbbell {
    /// Of the study `ubr-plus`.
    pub fn vanilla(
        place: Place,
        sources: usize,
        buffer: Option<u64>,
        drop: &'static str,
    ) -> Dumbbell {
        Dumbbell {
            place,
            sources,
            buffer,
            recovery: "vanilla",
            drop,
            z: None,
            vbr_ms: None,
            scheduler: Scheduler::StrictPriority,
        }
    }

    /// As a scenario.
    pub fn scenario(&self) -> Scenario {
        let n = self.sources;
        let buffer = match self.buffer {
            Some(cells) => format!("\"{cells} cells\""),
            None => "\"unlimited\"".into(),
        };
        let drop = match self.z {
            Some(z) => format!("{{ policy = \"selective-drop\", z = {z:?} }}"),
            None => format!("\"{}\"", self.drop),
        };
        let scheduler = self.scheduler.toml();
        let (access, trunk) = self.place.delays();
        let (mss, rwnd) = self.place.tcp();
        let recovery = self.recovery;
        let duration = self.place.duration();
        let mut text = format!(
            r#"
duration = "{duration}"
switch = [
    {{ name = "west", scheduler = {scheduler}, ubr = {{ buffer = {buffer}, drop = {drop} }} }},
    {{ name = "east", scheduler = {scheduler}, ubr = {{ buffer = {buffer}, drop = {drop} }} }},
]
[[link]]
from = "west"
to = "east"
rate = "155.52 Mbps"
delay = "{trunk}"
[[vc]]
name = "tcp"
from = "source"
to = "sink"
traffic = {{ kind = "tcp", recovery = "{recovery}", mss = "{mss} bytes", rwnd = "{rwnd} bytes" }}
"#
        );
        let mut ends = vec![("source", "west", n), ("sink", "east", n)];
        if let Some(ms) = self.vbr_ms {
            ends.extend([("video", "west", 1), ("screen", "east", 1)]);
            text += &format!(
                r#"
[[vc]]
name = "vbr"
from = "video"
to = "screen"
traffic = {{ kind = "vbr", amplitude = 1.0, on = "{ms} ms", off = "{ms} ms" }}
"#
            );
        }
        for (host, switch, count) in ends {
            text += &format!(
                r#"
[[host]]
name = "{host}"
count = {count}
[[link]]
from = "{host}"
to = "{switch}"
rate = "155.52 Mbps"
delay = "{access}"
"#
            );
        }
        read(&text)
    }
}

/// A chain of two congested links: three TCPs cross both, three more load each.
pub const TWO_HOPS: &str = r#"
duration = "10 s"
host = [
    { name = "long", count = 3 }, { name = "first", count = 3 }, { name = "second", count = 3 },
    { name = "end", count = 3 }, { name = "middle", count = 3 }, { name = "last", count = 3 },
]
switch = [{ name = "west" }, { name = "mid" }, { name = "east" }]
link = [
    { from = "long", to = "west", rate = "155.52 Mbps", delay = "5 us" },
    { from = "first", to = "west", rate = "155.52 Mbps", delay = "5 us" },
    { from = "second", to = "mid", rate = "155.52 Mbps", delay = "5 us" },
    { from = "west", to = "mid", rate = "155.52 Mbps", delay = "1 ms", ubr = { buffer = "2000 cells", drop = "fba" } },
    { from = "mid", to = "east", rate = "155.52 Mbps", delay = "1 ms", ubr = { buffer = "2000 cells", drop = "fba" } },
    { from = "mid", to = "middle", rate = "155.52 Mbps", delay = "5 us" },
    { from = "east", to = "end", rate = "155.52 Mbps", delay = "5 us" },
    { from = "east", to = "last", rate = "155.52 Mbps", delay = "5 us" },
]
vc = [
    { name = "long", from = "long", to = "end", traffic = { kind = "tcp", recovery = "vanilla" } },
    { name = "first", from = "first", to = "middle", traffic = { kind = "tcp", recovery = "vanilla" } },
    { name = "second", from = "second", to = "last", traffic = { kind = "tcp", recovery = "vanilla" } },
]
"#;

/// Ten TCPs at 155.52 Mb/s into a line of 33.92 Mb/s: one source alone overloads it.
pub const MIXED_RATES: &str = r#"
duration = "20 s"
host = [{ name = "source", count = 10 }, { name = "sink", count = 10 }]
switch = [{ name = "west", ubr = { buffer = "1000 cells", drop = "selective-drop" } }, { name = "east" }]
link = [
    { from = "source", to = "west", rate = "155.52 Mbps", delay = "5 us" },
    { from = "west", to = "east", rate = "33.92 Mbps", delay = "2 ms" },
    { from = "east", to = "sink", rate = "155.52 Mbps", delay = "5 us" },
]
vc = [{ from = "source", to = "sink", traffic = { kind = "tcp", recovery = "vanilla" } }]
"#;

/// `text` as a scenario.
pub fn read(text: &str) -> Scenario {
    read_toml(text, "bench", &[]).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"))
}

/// How minimum rates are kept in `gfr-leaky-bucket`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Gfr {
    /// By its scheme two: leaky buckets before one queue.
    SchemeTwo,
    /// By a queue for each VC.
    Weighted,
}

/// A host of `gfr-leaky-bucket` at a switch, with the link to it.
fn gfr_host(host: &str, switch: &str, delay: &str) -> String {
    format!(
        r#"
[[host]]
name = "{host}"
processing = {{ kind = "latency", per = "frame", mean = "500 ns" }}
[[link]]
from = "{host}"
to = "{switch}"
rate = "150 Mbps"
delay = "{delay}"
"#
    )
}

/// A VC of it between two hosts, with a minimum rate in Mb/s.
fn gfr_vc(scheme: Gfr, vc: &str, [from, to]: [&str; 2], mcr: u32, traffic: &str) -> String {
    let guarantee = match scheme {
        Gfr::SchemeTwo => String::new(),
        Gfr::Weighted => format!("guarantee = \"{mcr} Mbps\""),
    };
    format!(
        r#"
[[vc]]
name = "{vc}"
from = "{from}"
to = "{to}"
class = "gfr"
{guarantee}
contract = {{ pcr = "4240 Mbps", mcr = "{mcr} Mbps", mbs = "188679 cells" }}
[vc.traffic]
{traffic}
"#
    )
}

/// What a TCP of it does, with segments of so many bytes.
fn gfr_tcp(mss: u32) -> String {
    format!(
        r#"kind = "tcp"
mss = "{mss} bytes"
rwnd = "520000 bytes"
granularity = "10 us"
initial_rto = "500 ms"
processing = {{ kind = "server", per = "frame", mean = "100 us", spread = "10 us" }}"#
    )
}

/// Switches of the GFR study, each with a link to the next one.
fn gfr_switches(scheme: Gfr, switches: &[&str], delay: &str) -> String {
    let queue = match scheme {
        Gfr::SchemeTwo => r#"gfr = { drop = "gcra-round-robin" }"#,
        Gfr::Weighted => {
            r#"scheduler = { kind = "per-vc", class = "gfr" }
gfr = { buffer = "20000 cells", drop = { policy = "selective-drop", r = 0.5, z = 1 } }"#
        }
    };
    let mut parts = String::new();
    for switch in switches {
        parts += &format!(
            r#"
[[switch]]
name = "{switch}"
processing = {{ kind = "latency", per = "cell", mean = "4 us" }}
"#
        );
    }
    for pair in switches.windows(2) {
        parts += &format!(
            r#"
[[link]]
from = "{}"
to = "{}"
rate = "150 Mbps"
delay = "{delay}"
{queue}
"#,
            pair[0], pair[1]
        );
    }
    parts
}

/// The first network of `gfr-leaky-bucket`: five TCPs with a round trip of 1 ms, and five with 20 ms.
pub fn gfr_peers(scheme: Gfr) -> Scenario {
    let far = |number| {
        if number > 5 {
            "4.99975 ms"
        } else {
            "249.75 us"
        }
    };
    gfr_pairs("gfr-peers", scheme, far, |_| gfr_tcp(1024))
}

/// The second network of the GFR study: five TCPs alongside five greedy UDPs.
pub fn gfr_udp(scheme: Gfr) -> Scenario {
    let near = |_| "249.75 us";
    gfr_pairs("gfr-udp", scheme, near, |number| match number {
        ..=5 => gfr_tcp(1024),
        _ => "kind = \"udp\"\ndatagram_size = \"1024 bytes\"".into(),
    })
}

/// Ten VCs over one link; by the number of each, the delay of its links and its traffic.
fn gfr_pairs(
    name: &str,
    scheme: Gfr,
    delay: fn(u32) -> &'static str,
    traffic: fn(u32) -> String,
) -> Scenario {
    let mut parts = gfr_switches(scheme, &["west", "east"], "500 ns");
    for (number, mcr) in (1..).zip([3, 6, 9, 12, 15, 3, 6, 9, 12, 15]) {
        let [source, sink] = ["source", "sink"].map(|end| format!("{end}{number}"));
        parts += &gfr_host(&source, "west", delay(number));
        parts += &gfr_host(&sink, "east", delay(number));
        let vc = format!("vc{number}");
        parts += &gfr_vc(scheme, &vc, [&source, &sink], mcr, &traffic(number));
    }
    read(&format!("name = \"{name}\"\nduration = \"10 s\"\n{parts}"))
}

/// The third network of the GFR study: group A over three congested links, B, C and D over one each.
pub fn gfr_chain(scheme: Gfr) -> Scenario {
    let mut parts = gfr_switches(scheme, &["w1", "w2", "w3", "w4"], "2 ms");
    for (group, first, last) in [
        ("a", "w1", "w4"),
        ("b", "w1", "w2"),
        ("c", "w2", "w3"),
        ("d", "w3", "w4"),
    ] {
        for (member, mcr) in (1..).zip([2, 6, 10, 14, 18]) {
            let vc = format!("{group}{member}");
            let [from, to] = ["from", "to"].map(|end| format!("{vc}-{end}"));
            parts += &gfr_host(&from, first, "500 ns");
            parts += &gfr_host(&to, last, "500 ns");
            parts += &gfr_vc(scheme, &vc, [&from, &to], mcr, &gfr_tcp(8192));
        }
    }
    read(&format!(
        "name = \"gfr-chain\"\nduration = \"10 s\"\n{parts}"
    ))
}

/// TCPs over ABR with ERICA, alongside VBR of a higher class or alone, 10 s.
pub fn abr(sources: usize, delay: &str, vbr: bool) -> Scenario {
    let background = if vbr {
        r#"
[[host]]
name = "bursts-from"
[[host]]
name = "bursts-to"
[[link]]
from = "bursts-from"
to = "west"
rate = "149.76 Mbps"
delay = "5 ms"
[[link]]
from = "east"
to = "bursts-to"
rate = "149.76 Mbps"
delay = "5 ms"
[[vc]]
name = "bursts"
from = "bursts-from"
to = "bursts-to"
traffic = { kind = "vbr", amplitude = 0.8, on = "100 ms", off = "100 ms" }
"#
    } else {
        ""
    };
    read(&format!(
        r#"
name = "abr-{sources}"
duration = "10 s"
[[host]]
name = "a"
count = {sources}
[[host]]
name = "b"
count = {sources}
[[switch]]
name = "west"
abr = {{ feedback = {{ kind = "erica", max_alloc_previous = false }} }}
[[switch]]
name = "east"
[[link]]
from = "a"
to = "west"
rate = "149.76 Mbps"
delay = "{delay}"
[[link]]
from = "west"
to = "east"
rate = "149.76 Mbps"
delay = "{delay}"
[[link]]
from = "east"
to = "b"
rate = "149.76 Mbps"
delay = "{delay}"
[[vc]]
from = "a"
to = "b"
class = "abr"
abr = {{ tbe = "512 cells", rif = 1 }}
traffic = {{ kind = "tcp", rwnd = "600000 bytes" }}
{background}"#
    ))
}

/// TCPs over ATM-RED: on a LAN, ten of them at 149.76 Mb/s, or on an access network: 50 servers at 10 Mb/s over a bottleneck of 33.92 Mb/s, clients with
/// 2 Mb/s down and 200 kb/s up. Buffers and parameters are those of the study `cell-discard`.
pub fn red(access: bool) -> Scenario {
    let [w_q, max_p, min_th, max_th] = if access {
        ["0.001", "0.1", "1000 cells", "8000 cells"]
    } else {
        ["0.002", "0.02", "2000 cells", "6000 cells"]
    };
    let drop = format!(
        r#"{{ policy = "atm-red", w_q = {w_q}, max_p = {max_p}, min_th = "{min_th}", max_th = "{max_th}" }}"#
    );
    let (count, delay, source, trunk, down, up, rwnd) = if access {
        (
            50,
            "10 ms",
            "10 Mbps",
            "33.92 Mbps",
            "2 Mbps",
            "200 kbps",
            131_072,
        )
    } else {
        let line = "149.76 Mbps";
        (10, "100 us", line, line, line, line, 65_536)
    };
    let duration = if access { "100 s" } else { "20 s" };
    read(&format!(
        r#"
name = "red"
duration = "{duration}"
[[host]]
name = "server"
count = {count}
[[host]]
name = "client"
count = {count}
[[switch]]
name = "west"
ubr = {{ buffer = "8192 cells", drop = {drop} }}
[[switch]]
name = "east"
ubr = {{ buffer = "8192 cells", drop = {drop} }}
[[link]]
from = "server"
to = "west"
rate = "{source}"
delay = "{delay}"
[[link]]
from = "west"
to = "east"
rate = "{trunk}"
delay = "{delay}"
[[link]]
from = "east"
to = "client"
duplex = false
rate = "{down}"
delay = "{delay}"
[[link]]
from = "client"
to = "east"
duplex = false
rate = "{up}"
delay = "{delay}"
[[vc]]
from = "server"
to = "client"
[vc.traffic]
kind = "tcp"
recovery = "reno"
mss = "1460 bytes"
rwnd = "{rwnd} bytes"
granularity = "200 ms"
delayed_ack = "50 ms"
"#
    ))
}

/// TCPs of full packets over one link of `gigabits`. With `lengths` their handshakes make packets
/// differ in length on the link, but none waits behind it.
pub fn ethernet(sources: usize, gigabits: u64, lengths: bool) -> Scenario {
    ethernet_with(sources, gigabits, lengths, 1, "cells")
}

/// [`ethernet`] with queues that count `unit`, of which a full packet takes `places`.
pub fn ethernet_with(
    sources: usize,
    gigabits: u64,
    lengths: bool,
    places: u64,
    unit: &str,
) -> Scenario {
    let buffer = places * 1_000 * gigabits.div_ceil(25);
    let threshold = buffer * 4 / 5;
    let sinks = if lengths { 40 * gigabits } else { gigabits };
    let seconds = 100 / gigabits;
    read(&format!(
        r#"
name = "ethernet"
format = "ethernet"
duration = "{seconds} s"
host = [{{ name = "source", count = {sources} }}, {{ name = "sink", count = {sources} }}]
switch = [
    {{ name = "west", ubr = {{ buffer = "{buffer} {unit}", drop = {{ policy = "epd", threshold = "{threshold} {unit}" }} }} }},
    {{ name = "east" }},
]
link = [
    {{ from = "source", to = "west", rate = "{gigabits} Gbps", delay = "10 us" }},
    {{ from = "west", to = "east", rate = "{gigabits} Gbps", delay = "100 us" }},
    {{ from = "east", to = "sink", rate = "{sinks} Gbps", delay = "10 us" }},
]

[[vc]]
from = "source"
to = "sink"

[vc.traffic]
kind = "tcp"
recovery = "new-reno"
mss = "1460 bytes"
rwnd = "1 MiB"
handshake = {lengths}
granularity = "1 ms"
min_rto = "10 ms"
initial_rto = "10 ms"
"#
    ))
}
