"""The front page: the captions of its picture, and numbers in its prose, against the runs and files they are of."""

from __future__ import annotations

import re

import cellyard as cy
import figures
import pages
import pytest
from conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def cases() -> dict[tuple[str, str], figures.Case]:
    return figures.cases()


def outside(found: dict[tuple[str, str], figures.Case], metric: str) -> list[str]:
    """Return the policies whose published value is outside the range of its runs."""
    names = []
    for policy, label in figures.POLICIES.items():
        case = found["vanilla", policy]
        if case.is_outside(metric):
            names.append(label.replace("\n", " "))
    return names


def listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def test_the_caption_of_the_picture_says_what_it_shows(cases: dict[tuple[str, str], figures.Case]) -> None:
    (caption,) = re.findall(r"^\*(Five TCP senders .*?)\*$", README, re.M | re.S)
    # The site's first page includes what stands before this mark.
    assert "<!-- end of what the site includes -->" in README.partition(caption)[2]
    scenario = cases["vanilla", "tail-drop"].scenario
    assert f"medians of {figures.REPLICATIONS} runs of {scenario.run().only.duration_s:g} s" in one_line(caption)
    assert f"{figures.SHOWN_S:g} s of one run" in one_line(caption)
    goodput, fairness = outside(cases, "efficiency"), outside(cases, "fairness")
    told = f"outside the range are the goodput of {listed(goodput)}, and the fairness of {listed(fairness)}."
    assert one_line(caption).endswith(told)
    # Vanilla waits for timers, and leaves the link idle; SACK fills it, and one sender takes most with tail drop.
    vanilla, sack = cases["vanilla", "tail-drop"], cases["sack", "tail-drop"]
    assert not any(vanilla.runs.values("fast_retransmits"))
    assert vanilla.spread("port.west->east.utilisation")[0] < 0.5
    assert sack.spread("port.west->east.utilisation")[0] > 0.95
    goodputs = [[vc.goodput_mbps for vc in run.vcs.values()] for run in sack.runs]
    largest = sorted(max(one) / sum(one) for one in goodputs)
    assert largest[len(largest) // 2] > 0.5
    # The title: over the policies, vanilla differs in goodput, and SACK in fairness alone.
    gaps = {
        (tcp, metric): abs(cases[tcp, "tail-drop"].spread(metric)[0] - cases[tcp, "selective-drop"].spread(metric)[0])
        for tcp in figures.RECOVERIES
        for metric in ("efficiency", "fairness")
    }
    assert gaps["vanilla", "efficiency"] > 0.25 and gaps["sack", "efficiency"] < 0.05 and gaps["sack", "fairness"] > 0.5


def test_the_front_page_names_the_tcp_of_its_first_network() -> None:
    assert 'recovery = "vanilla"' in cy.examples.text("lan-5")
    assert "`lan-5` has vanilla TCP" in README


@pytest.mark.parametrize("rate", [10, 800])
def test_packets_fill_a_line_at_both_ends_of_the_stated_rates(rate: int) -> None:
    assert "at 10 to 800 Gb/s" in one_line(README)
    values = {"link.*.rate": f"{rate} Gbps", "link.*.delay": "1 ns", "vc.traffic.rwnd": "1 MB"}
    run = cy.examples.scenario("ties").with_values({**values, "switch.switch.ubr.buffer": "500 cells"}).run().only
    assert run.totals.goodput_mbps > 900 * rate and (run.totals.efficiency or 0) > 0.99


def test_the_record_behind_the_speed_page_is_the_newest() -> None:
    newest = pages.newest()
    days = [path.name[:10] for path in pages.RECORDS.glob("*.md") if pages.read(path).cases]
    assert newest.path.name[:10] == max(days) and set(newest.cases) <= set(pages.CASES)
    page = (ROOT / "docs/speed.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| .* \| [\d.]+ \| [\d.]+ \|$", page, re.M)) == len(newest.cases)
