"""The page on thresholds of a shared memory: its tables against published numbers and closed forms."""

import re
from fractions import Fraction

import cellyard as cy
import pytest
from conftest import ROOT, Cli

PAGE = (ROOT / "docs/alpha.md").read_text(encoding="utf-8")

#: SONiC, tests/qos/files/qos_params.th5.yaml, pkts_num_trig_pfc_multi: packets that one queue after the other takes.
FILLS = {
    "t0": [
        120117,
        60096,
        30085,
        15079,
        7577,
        3825,
        1950,
        1012,
        543,
        308,
        191,
        133,
        103,
        89,
        81,
        78,
        76,
        75,
        *[74] * 32,
    ],
    "ft": [142285, 71159, 35597, 17815, 8925, 4479, 2257, 1145, 590, 312, 173, 103, 69],
    "t1": [
        *(133349, 66711, 33393, 16733, 8404, 4239, 2156, 1115, 595, 334, 204, 139, 107, 90, 82, 78, 76, 75, 75),
        *[74] * 6,
    ],
}

#: First packet that is dropped, in the same file: lossy_queue_1, pkts_num_trig_egr_drp.
FIRST_DROPPED = {"t0": 120051, "ft": 142259, "t1": 133283}


def test_a_chip_takes_the_published_numbers_of_packets() -> None:
    run = cy.examples.scenario("chip-threshold").run().only
    assert sum(map(len, FILLS.values())) == 88
    for name, fills in FILLS.items():
        queues = [run.ports[f"{name}->b-{name}-{queue}"].max_queue_cells for queue in range(1, len(fills) + 1)]
        assert queues == fills
        assert run.ports[f"{name}-lossy->b-{name}-lossy"].max_queue_cells + 1 == FIRST_DROPPED[name]
        # Each queue refuses something, and nothing leaves.
        assert all(port.refusals for port in run.ports.values() if port.can_queue and port.switch == name)
        assert all(port.sent_cells == 0 for port in run.ports.values() if port.switch == name)
        pool = run.pools[name]
        shared = pool.buffer_places - pool.reserved_places
        assert f"{shared:,}".replace(",", " ") in PAGE


def test_queues_and_what_is_in_use_are_within_the_stated_distance_of_the_formula() -> None:
    rows = re.findall(r"^\| ([\d/]+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.M)
    assert len(rows) == 12
    for alpha_text, ports, *numbers in rows:
        alpha, n = Fraction(alpha_text), int(ports)
        queue, stated, used, stated_used = map(float, numbers)
        expected = alpha * 1000 / (1 + n * alpha)
        assert stated == pytest.approx(float(expected), abs=0.05)
        assert stated_used == pytest.approx(float(n * expected), abs=0.05)
        assert abs(queue - expected) <= n + 2 and abs(used - n * expected) <= n + 2
        # The experiment on the page prints the same numbers.
        shown = rf"^{re.escape(alpha_text)} +{n} +5 +{numbers[0]} +\.\.\. +{numbers[2]} +\.\.\.$"
        assert re.search(shown, PAGE, re.M)
    free = {(row[0], row[1]): 100 - float(row[5]) / 10 for row in rows}
    low, high = (sorted(free[alpha, ports] for ports in ("1", "16")) for alpha in ("8", "1/2"))
    assert low == pytest.approx([0.8, 11.1], abs=0.05) and high == pytest.approx([11.1, 66.7], abs=0.05)


def test_run_prints_what_a_pool_held_in_its_places(cli: Cli) -> None:
    memory = "switch.tor.pool={ buffer = '300 kB', cell = '208 bytes' }"
    shown = cli("run", ROOT / "examples/incast-shared.toml", "--set", memory).stdout
    (head, values) = re.findall(r"^(?:pool|tor) {2,}.*$", shown, re.M)
    run = cy.examples.scenario("incast-shared", overrides=[memory.partition("=")[::2]]).run().only
    pool = run.pools["tor"]
    assert re.split(r" {2,}", head) == ["pool", "place", "buffer", "reserved", "max_used", "mean_used", "tied_refusals"]
    assert re.split(r" {2,}", values)[:5] == ["tor", "memory cell", "1442", "0", str(pool.max_used_places)]
    port = run.ports["tor->busy"]
    assert port.max_queue_places == 8 * port.max_queue_cells > 700
    (row,) = re.findall(r"^tor->busy {2,}.*$", shown.partition("data packets dropped")[0], re.M)
    assert str(port.max_queue_places) in row.split()


def test_the_table_of_bursts_is_what_runs_lose() -> None:
    found = re.search(r"^\| alpha \| (.*) \|\n\|[-|]+\|\n\| lost of 480 \| (.*) \|$", PAGE, re.M)
    assert found
    alphas, stated = (row.split(" | ") for row in found.groups())
    assert len(alphas) == 9
    scenario = cy.examples.scenario("incast-shared")
    for alpha, lost in zip(alphas, stated, strict=True):
        run = scenario.with_values({"switch.tor.ubr.alpha": alpha}).run().only
        assert run.ports["tor->receiver"].refusals == int(lost)
    runs = scenario.with_values({"switch.tor.ubr.alpha": 64}).run(replications=20)
    mean = sum(run.ports["tor->receiver"].refusals or 0 for run in runs) / 20
    assert f"alpha = 64 loses {mean} packets on average" in PAGE


@pytest.mark.parametrize(("alpha", "refused"), [(1, 501), (64, 45)])
def test_a_burst_is_refused_where_the_page_says(alpha: int, refused: int) -> None:
    scenario = cy.examples.scenario("incast-shared")
    longer = {"switch.tor.ubr.alpha": alpha, "vc.burst.stop": "2250 us", "probe": [{"what": "trace", "of": "burst"}]}
    run = scenario.with_values(longer).run().only
    first = run.trace[0]
    # In step, each sender brings a packet at an instant, and the last of the three is refused.
    assert 3 * (first.frame + 1) == refused
    assert f"{refused}" in PAGE.split("The closed form")[1]
