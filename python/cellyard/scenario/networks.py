"""Makes networks that a file cannot describe briefly. Every part is named by a rule.

>>> import cellyard as cy
>>> lot = cy.networks.parking_lot(3, [{"traffic": cy.Tcp()}] * 2, duration="10 ms")
>>> [vc["name"] for vc in lot.to_dict()["vcs"]]
['long1', 'long2', 'hop1-1', 'hop1-2', 'hop2-1', 'hop2-2', 'hop3-1', 'hop3-2']
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from cellyard.components import Host, Link, Processing, Switch, Vc
from cellyard.scenario.scenario import Scenario
from cellyard.system.errors import UsageError
from cellyard.system.limits import whole
from cellyard.system.values import shown

Part = TypeVar("Part")

#: Limit on the congested links of a parking lot.
MOST_HOPS = 1000


def parking_lot(
    hops: int,
    members: Sequence[Mapping[str, Any]],
    *,
    groups: Sequence[str] | None = None,
    rate: str = "155.52 Mbps",
    delay: str = "2 ms",
    access_delay: str = "5 us",
    port: Mapping[str, Any] | None = None,
    host_processing: Processing | None = None,
    switch_processing: Processing | None = None,
    **fields: Any,
) -> Scenario:
    """A chain of ``hops`` + 1 switches. One group of VCs takes all links between them; each link also has its own group.

    ``members`` are the VCs of every group, each as fields of `Vc` (``traffic``, ``class_``,
    ``contract``, ...) without its ends. ``fields`` are those of the scenario (``duration``,
    ``measure``, ``probes``, ...).

    Groups are called ``long`` and ``hop1``, ``hop2``, ..., or as ``groups`` says, the long one
    first. VCs are named after their group and number (``long1``, ``hop2-1``), and switches are
    ``switch1``, ``switch2``, .... Each VC has its own two hosts, ``<vc>-from`` and ``<vc>-to``.

    All links have ``rate`` (default 155.52 Mb/s). Links between switches have ``delay`` (2 ms) and,
    in the forward direction, the fields ``port`` of `Link` (``ubr``, ``gfr``, ``scheduler``, ...).
    Links of hosts have ``access_delay`` (5 us).

    Raises `UsageError` when ``hops``, ``members`` or ``groups`` are out of bounds, and
    `ScenarioError` as `Scenario` does.
    """
    hops = whole("hops", hops, least=1, most=MOST_HOPS) or 1
    if not members or not all(isinstance(member, Mapping) for member in members):
        raise UsageError(f"members = {shown(members)}: must be one VC or more, each a mapping of fields of Vc")
    forbidden = sorted({"name", "from_", "to", "count", "route"}.intersection(*members)) if members else []
    if forbidden:
        raise UsageError(f"members: parking_lot itself sets {forbidden[0]} of each VC; leave it out")
    names = list(groups) if groups is not None else ["long", *(f"hop{hop}" for hop in range(1, hops + 1))]
    if len(names) != hops + 1 or len(set(names)) != len(names):
        raise UsageError(
            f"groups = {names}: must be {hops + 1} different names, one for the long group and one for each of {hops} links"
        )
    hosts, access, vcs = [], [], []
    for index, group in enumerate(names):
        first, last = (1, hops + 1) if index == 0 else (index, index + 1)
        for number, member in enumerate(members, start=1):
            name = f"{group}{'-' if group[-1:].isdigit() else ''}{number}"
            ends = (f"{name}-from", f"{name}-to")
            hosts += [Host(name=end, processing=host_processing) for end in ends]
            access += [
                Link(from_=ends[0], to=f"switch{first}", rate=rate, delay=access_delay),
                Link(from_=f"switch{last}", to=ends[1], rate=rate, delay=access_delay),
            ]
            vcs.append(_part("members", Vc, {"name": name, "from_": ends[0], "to": ends[1], **member}))
    trunks = [
        _part(
            "port",
            Link,
            {"from_": f"switch{hop}", "to": f"switch{hop + 1}", "rate": rate, "delay": delay, **(port or {})},
        )
        for hop in range(1, hops + 1)
    ]
    switches = [Switch(name=f"switch{number}", processing=switch_processing) for number in range(1, hops + 2)]
    return Scenario(hosts=hosts, switches=switches, links=[*access, *trunks], vcs=vcs, **fields)


def _part(argument: str, kind: Callable[..., Part], fields: Mapping[str, Any]) -> Part:
    """A component with these fields; an error about an unknown field names the argument."""
    try:
        return kind(**fields)
    except TypeError as error:
        raise UsageError(f"{argument}: {error}") from None
