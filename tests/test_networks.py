"""Networks created by functions."""

from typing import Any

import cellyard as cy
import pytest
from cellyard.scenario import networks


def lot(hops: int = 3, **fields: Any) -> cy.Scenario:
    members = fields.pop("members", [{"traffic": cy.Tcp()}, {"traffic": cy.Udp(rate="1 Mbps")}])
    return networks.parking_lot(hops, members, **{"duration": "20 ms", **fields})


def test_a_parking_lot_has_a_long_group_and_one_for_each_link() -> None:
    data = lot().to_dict()
    routes = {vc["name"]: vc["route"] for vc in data["vcs"]}
    assert routes["long1"] == routes["long2"] == ["switch1", "switch2", "switch3", "switch4"]
    assert [routes[f"hop{hop}-2"] for hop in (1, 2, 3)] == [[f"switch{hop}", f"switch{hop + 1}"] for hop in (1, 2, 3)]
    assert len(data["hosts"]) == 16 and len(routes) == 8
    assert [vc["traffic"]["kind"] for vc in data["vcs"]] == ["tcp", "udp"] * 4


def test_only_links_between_switches_have_the_port() -> None:
    queue = cy.Queue(buffer="300 cells", drop="epd")
    links = {
        link["name"]: link for link in lot(2, port={"ubr": queue}, delay="3 ms", access_delay="7 us").to_dict()["links"]
    }
    assert [bool(links[name]["queues"]) for name in ("switch1->switch2", "switch2->switch1")] == [True, False]
    assert links["switch2->switch3"]["delay"] * 7 == links["hop1-1-from->switch1"]["delay"] * 3000


def test_groups_can_be_named_and_the_long_one_gets_least_without_fairness() -> None:
    scenario = lot(2, groups="ABC", members=[{"traffic": cy.Tcp(rwnd="200000 bytes")}] * 2, duration="2 s",
                   port={"ubr": cy.Queue(buffer="300 cells", drop="epd")})  # fmt: skip
    run = scenario.run().only
    assert list(run.vcs) == ["A1", "A2", "B1", "B2", "C1", "C2"]
    goodput = {group: sum(run.vcs[f"{group}{i}"].goodput_mbps for i in (1, 2)) for group in "ABC"}
    assert goodput["A"] < goodput["B"] and goodput["A"] < goodput["C"]


@pytest.mark.parametrize(
    ("hops", "fields", "text"),
    [
        (0, {}, "hops = 0: must be a whole number from 1 to 1000"),
        (2, {"members": []}, r"members = \[\]: must be one VC or more"),
        (2, {"members": [3]}, "each a mapping of fields of Vc"),
        (
            2,
            {"members": [{"traffic": "tcp", "name": "a"}]},
            "members: parking_lot itself sets name of each VC; leave it out",
        ),
        (2, {"members": [{"traffic": "tcp", "nope": 1}]}, "members: .*nope"),
        (2, {"port": {"nope": 1}}, "port: .*nope"),
        (2, {"groups": ["A", "B"]}, "must be 3 different names"),
        (2, {"groups": ["A", "B", "B"]}, "must be 3 different names"),
    ],
)
def test_arguments_out_of_bounds_are_refused(hops: int, fields: dict[str, Any], text: str) -> None:
    with pytest.raises(cy.UsageError, match=text):
        lot(hops, **fields)
