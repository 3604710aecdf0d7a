"""Output of `cellyard check` about the queues along a route."""

from collections.abc import Sequence

import cellyard as cy
import pytest
from cellyard.runs.expected import outline
from cellyard.scenario import overview

RATE, DELAY = "155.52 Mbps", "5 us"


def pictures(west: cy.Switch, **to_east: object) -> dict[str, str]:
    """Return the lines of the port at the switch `west` on the routes to `east` and to `north`.

    ``to_east`` is set for the first route only.
    """
    ends = ("east", "north")
    scenario = cy.Scenario(
        name="fork",
        duration="1 s",
        hosts=[cy.Host(name=f"{prefix}-{end}", count=2) for prefix in ("from", "to") for end in ends],
        switches=[west, *(cy.Switch(name=end) for end in ends)],
        links=[
            *(cy.Link(from_=f"from-{end}", to="west", rate=RATE, delay=DELAY) for end in ends),
            *(cy.Link(from_=end, to=f"to-{end}", rate=RATE, delay=DELAY) for end in ends),
            cy.Link(from_="west", to="east", rate=RATE, delay=DELAY, **to_east),  # type: ignore[arg-type]
            cy.Link(from_="west", to="north", rate=RATE, delay=DELAY),
        ],
        vcs=[cy.Vc(from_=f"from-{end}", to=f"to-{end}", traffic=cy.Tcp(recovery="reno")) for end in ends],
    )
    shown = overview.topology(outline(scenario.canonical))
    ports = {}
    for picture in shown.split("\n\n"):
        lines = picture.splitlines()
        for above, port, below in zip(lines, lines[1:], lines[2:], strict=False):
            if above == "west":
                ports[below] = port.split("us   ")[1]
    return ports


OWN = {"ubr": cy.Queue(buffer="70 cells", drop="selective-drop")}
OF_SWITCH = cy.Switch(name="west", scheduler="fifo", ubr=cy.Queue(buffer="500 cells", drop="epd"))


@pytest.mark.parametrize(
    ("west", "to_east", "east", "north"),
    [
        (OF_SWITCH, {}, "500 cells, epd; fifo", "500 cells, epd; fifo"),
        (OF_SWITCH, OWN, "70 cells, selective-drop; fifo", "500 cells, epd; fifo"),
        (OF_SWITCH, {"scheduler": cy.StrictPriority()}, "500 cells, epd; strict-priority", "500 cells, epd; fifo"),
        (
            cy.Switch(name="west"),
            OWN,
            "70 cells, selective-drop; strict-priority",
            "unlimited, tail-drop; strict-priority",
        ),
    ],
    ids=["the switch's", "the link's own queue", "the link's own scheduler", "neither"],
)
def test_a_port_has_the_queue_of_its_link_or_else_of_its_switch(
    west: cy.Switch, to_east: dict[str, object], east: str, north: str
) -> None:
    shown = {name: f"ubr queue: {told}; arithmetic kernel" for name, told in (("east", east), ("north", north))}
    assert pictures(west, **to_east) == shown


def test_an_outline_does_not_grow_with_vcs_that_are_alike() -> None:
    def drawn(vcs: int) -> str:
        scenario = cy.Scenario(
            name="star",
            duration="1 ms",
            hosts=[cy.Host(name="from", count=vcs), cy.Host(name="to")],
            switches=[cy.Switch(name="west")],
            links=[cy.Link(from_="from", to="west", rate=RATE), cy.Link(from_="west", to="to", rate=RATE)],
            vcs=[cy.Vc(from_="from", to="to", traffic=cy.Cbr(rate="1 kbps"))],
        )
        assert (scenario.name, scenario.seed) == ("star", scenario.to_dict()["seed"])
        facts = outline(scenario.canonical)
        assert facts["vcs"] == vcs and facts["ports"] == len(scenario.describe()["ports"])
        return overview.topology(facts)

    assert drawn(2).startswith("from1, from2\n") and drawn(3).startswith("from1 .. from3 (3)\n")
    assert len(drawn(2000)) < len(drawn(3)) + 20


def test_a_single_vc_is_described_in_the_singular() -> None:
    for name, begins in (("lossy-link", "1 VC over "), ("lan-5", "5 VCs over ")):
        assert overview.size(outline(cy.examples.scenario(name).canonical)).startswith(begins)


def test_a_program_is_described() -> None:
    facts = outline(cy.examples.scenario("program-selective-drop").canonical)
    assert overview.programs(facts).splitlines() == [
        "The program of ubr at west->east: refuse if:",
        "  X > R and Y * N > Z * X",
        "parameters: R = 0.9 K (decimal), Z = 0.8 (decimal)",
        "is asked about first cells of frames that find the port busy; needs counts by VC; 6 steps; "
        "never acts while X is below 901 cells",
    ]
    shown = overview.programs(outline(cy.examples.scenario("program-packet-red").canonical))
    assert "state of the queue: average (float), count (integer)" in shown
    assert "is asked about every cell; needs counts by VC, every cell, idle time; " in shown
    assert shown.endswith("may act at any X")
    assert overview.programs(outline(cy.examples.scenario("lan-5").canonical)) == ""


def test_a_program_that_schedules_is_described() -> None:
    facts = outline(cy.examples.scenario("program-scheduler-per-vc").canonical)
    shown = overview.programs(facts).splitlines()
    assert shown[0] == "The program that schedules class ubr at west->east:"
    assert shown[-8:] == [
        "    v = S",
        "    S = S + floor(unit / weight)",
        "  rank:",
        "    S",
        "parameters: unit = 60 (decimal)",
        "state of the port: v (integer)",
        "state of each VC: S (integer)",
        "the smallest rank (integer) goes; 7 steps",
    ]


def test_a_shaper_is_shown_with_the_vcs_that_it_shapes() -> None:
    def shown(*, both_ways: bool = False) -> str:
        shape = cy.Shape(rate="2.5 Mbps", burst="20 kB", both_ways=both_ways)
        scenario = cy.Scenario(
            name="shaped",
            duration="1 s",
            hosts=[cy.Host(name="a"), cy.Host(name="b")],
            links=[cy.Link(from_="a", to="b", rate=RATE)],
            vcs=[
                cy.Vc(from_="a", to="b", count=2, traffic="tcp", shape=shape),
                cy.Vc(from_="a", to="b", traffic="tcp"),
            ],
        )
        return "\n".join(line for line in overview.topology(outline(scenario.canonical)).splitlines() if "vc" in line)

    assert shown() == (
        "  vc1, vc2: tcp, class ubr, shaped to 2.5 Mbps with a burst of 20000 bytes\n  vc3: tcp, class ubr"
    )
    assert "shaped to 2.5 Mbps both ways with a burst" in shown(both_ways=True)


def test_a_rate_is_shown_with_its_first_changes() -> None:
    def shown(rates: Sequence[str]) -> str:
        changes = [cy.Change(at=f"{100 * (at + 1)} ms", rate=rate) for at, rate in enumerate(rates)]
        scenario = cy.Scenario(
            name="changing",
            duration="1 s",
            hosts=[cy.Host(name="a"), cy.Host(name="b")],
            links=[cy.Link(from_="a", to="b", rate="10 Mbps", changes=changes)],
            vcs=[cy.Vc(from_="a", to="b", traffic="tcp")],
        )
        (line,) = (line for line in overview.topology(outline(scenario.canonical)).splitlines() if "Mb/s" in line)
        return line

    assert shown([]) == "  |  10 Mb/s, 0 ns"
    assert shown(["0 bps", "1 kbps"]) == "  |  10 Mb/s (0 from 100 ms, 0.001 from 200 ms), 0 ns"
    four = "10000 from 100 ms, 1000000 from 200 ms, 1 from 300 ms, 2 from 400 ms"
    assert shown(["10 Gbps", "1 Tbps", "1 Mbps", "2 Mbps"]) == f"  |  10 Mb/s ({four}), 0 ns"
    assert shown(["10 Gbps", "1 Tbps", "1 Mbps", "2 Mbps", "3 Mbps"]) == f"  |  10 Mb/s ({four}, ...), 0 ns"
