"""The table of docs/model.md on what each order at ties gives, from runs of three small networks."""

from __future__ import annotations

import re

import cellyard as cy

ORDERS = ("fixed", "rotating", "random", "fair")

#: What sends, number of sources, their rate in Mb/s, inputs that bring nothing, waiting packets.
NETWORKS = (
    ("2 sources at the line rate, 8 inputs bring nothing", 2, 100, 8, 20),
    ("4 sources at a quarter of the line rate", 4, 25, 0, 1),
    ("3 sources at half of the line rate, 1 input brings nothing", 3, 50, 1, 2),
)


def table() -> str:
    """Refusals of each source that sends, for each network and order, as Markdown."""
    lines = [f"| network | {' | '.join(f'`{order}`' for order in ORDERS)} |", "|---" * (1 + len(ORDERS)) + "|"]
    for name, sources, rate, idle, buffer in NETWORKS:
        cells = [", ".join(map(str, refusals(sources, rate, idle, buffer, order))) for order in ORDERS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def refusals(sources: int, rate: int, idle: int, buffer: int, order: str) -> list[int]:
    """Refusals of each source in 5 s at a port of 100 Mb/s with room for ``buffer`` waiting packets."""
    udp = cy.Udp(datagram_size="1472 bytes", rate=f"{rate} Mbps")
    silent = cy.Vc(from_="idle", to="sink", start="5 s", traffic=udp)
    names = [("source", sources)] + [("idle", idle)] * (idle > 0)
    links = [cy.Link(from_=name, to="switch", rate="100 Mbps", delay="1 us") for name, _ in names]
    run = cy.Scenario(
        name="ties",
        duration="5 s",
        format="ethernet",
        tie_order=order,  # type: ignore[arg-type]
        hosts=[cy.Host(name=name, count=count) for name, count in names] + [cy.Host(name="sink")],
        switches=[cy.Switch(name="switch", ubr=cy.Queue(buffer=f"{buffer} cells"))],
        links=[*links, cy.Link(from_="switch", to="sink", rate="100 Mbps", delay="1 us")],
        vcs=[cy.Vc(from_="source", to="sink", traffic=udp)] + [silent] * (idle > 0),
    ).run()
    # The document, as the classes of results may not be generated yet.
    (inputs,) = [port["inputs"] for port in run.only.data["ports"] if port["name"] == "switch->sink"]
    return [brought["refusals"] for brought in inputs if brought["link"].startswith("source")]


def into(page: str) -> str:
    """The page with the table between its marks."""
    return re.sub(r"(?s)(<!-- ties, .*? -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}{table()}\n{m[2]}", page)
