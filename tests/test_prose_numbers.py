"""Numbers in the prose of README and docs: computed here, read from the sources, dated, or fixed by definition.

A sentence with a result has an entry in `SENTENCES`, which makes it from runs, sources or other
pages. The other numbers of a page are listed in `FIXED`, or measured once in a section that says
when (`MEASURED`). A number that is in none of these fails the test. Small whole numbers are
exempt, and so are code and generated pages.
"""

import math
import re
import struct
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import assumptions
import cellyard as cy
import numpy as np
import pytest
from cellyard.commands.explore import explorer_of
from cellyard.experiment import examples as experiments
from cellyard.runs.expected import outline
from cellyard.show import explorer
from cellyard.statistics import ranges
from cellyard.study import load, select
from cellyard.study.agreement import agreement
from conftest import ROOT, reproduced
from test_floors import FLOORS

#: Pages that scripts write; their own tests check them.
GENERATED = {"api", "components", "examples", "mechanisms", "ready-experiments", "results", "speed"}
PAGES = {
    str(path.relative_to(ROOT)).removesuffix(".md").removeprefix("docs/"): path
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/gallery").glob("*.md")]
}
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
#: What looks like a result: a fraction, a percentage, a range, or a whole number of three digits or more.
RESULT = re.compile(r"(?<![\w.^-])(\d+\.\d+|\d+ %|\d{1,3}( \d{3})+|\d{3,}|\d+(?= to \d)|\d+(?= of \d))")
#: Years, standards, places in texts, nominal confidence, and rates, which networks are described by.
NO_RESULT = re.compile(
    r"\b(19|20)\d\d\b|802\.3|([Ss]ections?|Tables?) \d+[.\d]*( (to|and) \d[.\d]*)?|95 %|90 % of them|[\d.]+ [kMGT]b/s"
)


@cache
def text(page: str) -> str:
    return PAGES[page].read_text(encoding="utf-8")


def one_line(part: str) -> str:
    return " ".join(part.split())


def networks(file: str) -> list[int]:
    """Return the number of random networks of each block of tests in a file of the engine."""
    code = (ROOT / f"crates/engine/tests/runs/{file}.rs").read_text(encoding="utf-8")
    blocks = re.findall(
        r"^proptest! \{\n +#!\[proptest_config\(common::config\(([\d_]+)\)\)\](.*?)^\}", code, re.M | re.S
    )
    return [int(each.replace("_", "")) * body.count("#[test]") for each, body in blocks]


def number(page: str, pattern: str) -> float:
    """Return the number on a page behind a pattern: in output that another test compares, or in a table."""
    found = re.findall(pattern, text(page), re.M)
    assert len(found) == 1, (page, pattern, found)
    return float(found[0])


def queue_without_loss() -> int:
    """Return the longest queue of the experiment `buffer` at the largest buffer, which loses nothing."""
    base = experiments.experiment("buffer").plan.base.with_values({"switch.west.ubr.buffer": "8500 cells"})
    totals = base.run().only.totals
    assert totals.cell_loss_ratio == 0
    return totals.max_queue_cells


def queue_of_the_trunk() -> int:
    (content,) = re.findall(r"`homes\.toml`:\n\n```toml\n(.*?)^```", text("tutorial"), re.M | re.S)
    return cy.Scenario.from_toml(content).run().only.ports["trunk"].max_queue_cells


def notebook(page: str) -> dict[str, Any]:
    """Return the names that the cells of a notebook leave."""
    pytest.importorskip("matplotlib").use("agg")
    names: dict[str, Any] = {}
    for cell in re.findall(r"```\{code-cell\}[^\n]*\n(.*?)^```", text(page), re.M | re.S):
        exec(cell, names)
    return names


def undecided(page: str, metric: str, variant: str) -> int:
    """Return the number of runs with which a notebook shows no significant difference of a variant."""
    rows = notebook(page)["outcome"].answer.tables["comparisons"]
    (row,) = (row for row in rows if row["metric"] == metric and variant in (row["variant"], row["against"]))
    return int(row["pairs"]) if row["better"] == "not significant" else 0


@cache
def gain_of_the_program() -> list[float]:
    """Return the interval of the gain in the notebook, and the chosen pause in ms."""
    names = notebook("gallery/program")
    row = names["check"].answer.tables["comparisons"][0]
    return [row["difference_low"], row["difference_high"], float(names["pause"].removesuffix(" ms"))]


def captured_bytes() -> list[int]:
    """Return the most frequent sizes of blocks in captures: cell, AAL5 frame, Ethernet frame, segment."""
    found = []
    layers: list[tuple[str, str, Literal["cells", "frames", "segments"]]] = [
        ("lan-5", "west->east", "cells"),
        ("lan-5", "west->east", "frames"),
        ("ties", "switch->sink", "frames"),
        ("lan-5", "source1", "segments"),
    ]
    for example, port, layer in layers:
        values = {"probe": [cy.CaptureProbe(of=port, layer=layer)], "duration": "20 ms", "vc.traffic.mss": "512 bytes"}
        with tempfile.TemporaryDirectory() as folder:
            cy.examples.scenario(example).with_values(values).run(captures=folder)
            (data,) = (path.read_bytes() for path in Path(folder).glob("*.pcapng"))
        sizes: Counter[int] = Counter()
        place = 0
        while place < len(data):
            kind, length = struct.unpack_from("<II", data, place)
            sizes[length] += kind == 6
            place += length
        found.append(sizes.most_common(1)[0][0])
    return found


def coarse_ticks() -> list[float]:
    """Return a row of the model's table on decisions, without the columns that need the defaults too."""
    study = load("ubr-plus")
    changed = [("vc.*.traffic.granularity", "500 ms"), ("vc.*.traffic.min_rto", "1 s")]
    rows = select(study, ["2-3"], {"configuration": "lan"})
    run = reproduced(assumptions.altered(study, changed), rows, replications=10)
    means = [run.rows, run.rows.where(drop_policy="tail-drop")]
    return [
        *(agreement(run.rows, metric)["mean_abs_error"] for metric in ("efficiency", "fairness")),
        *(np.mean([row.simulated["efficiency"] for row in part]) for part in means),
    ]


@cache
def tail_drop_and_epd() -> dict[str, list[float]]:
    """Return medians for five Reno TCPs on a LAN: of tail drop, then of EPD."""
    found: dict[str, list[float]] = {"cells": [], "packets": [], "repaired": [], "timeouts": [], "efficiency": []}
    for policy in ("tail-drop", "epd"):
        values = {"vc.traffic.recovery": "reno", "switch.west.ubr.drop": policy}
        runs = cy.examples.scenario("lan-5").with_values(values).run(replications=20)
        lost = [
            sum(vc.cells_dropped for vc in run.vcs.values()) / sum(vc.frames_lost for vc in run.vcs.values())
            for run in runs
        ]
        found["cells"].append(float(np.median(lost)))
        found["packets"].append(float(np.median([sum(vc.frames_lost for vc in run.vcs.values()) for run in runs])))
        found["repaired"].append(float(np.median(runs.values("fast_retransmits"))))
        found["timeouts"].append(float(np.median(runs.values("timeouts"))))
        found["efficiency"].append(runs.median("efficiency") or 0)
    return found


def of_five_tcps(recovery: str) -> list[float]:
    row = rf"^{recovery} +20 +\S+ +\S+ +"
    return [number("start", rf"{row}([\d.]+) "), number("start", rf"{row}[\d.]+ +\S+ +([\d.]+) ")]


def million_cells(example: str) -> str:
    return f"{outline(cy.examples.scenario(example).canonical)['max_bottleneck_cells'] / 1e6:.1f}"


def tools() -> list[str]:
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    return [rust, python.removeprefix(">=")]


def examples(prefix: str) -> set[str]:
    return {name for name in cy.examples.names() if name.startswith(prefix)}


#: What makes the numbers in the gaps of a sentence, by page and sentence.
COMPUTED: dict[str, dict[str, Callable[[], Any]]] = {
    "README": {
        "Rust {} or newer and Python {} or newer": tools,
    },
    "cells": {
        "per lost frame, of 12 | {:.1f} | {:.1f} |": lambda: tail_drop_and_epd()["cells"],
        "lost a cell in 10 s | {:.0f} | {:.0f} |": lambda: tail_drop_and_epd()["packets"],
        "fast retransmits in 10 s | {:.0f} | {:.0f} |": lambda: tail_drop_and_epd()["repaired"],
        "timeouts in 10 s | {:.0f} | {:.0f} |": lambda: tail_drop_and_epd()["timeouts"],
        "efficiency | {:.2f} | {:.2f} |": lambda: tail_drop_and_epd()["efficiency"],
    },
    "five-tcps": {
        **{
            f"`{recovery}` | {{:.3f}} | {{:.3f}} |": partial(of_five_tcps, recovery)
            for recovery in ("vanilla", "tahoe", "reno", "new-reno", "sack")
        },
        "a mean efficiency of {:.3f}": lambda: number("start", r"^selective-drop +20 +\S+ +\S+ +([\d.]+) "),
    },
    "fit": {
        f"`{example}` | {network} | at most {{}} million": partial(million_cells, example)
        for example, network in (
            ("lan-5", "5 TCPs, 155.52 Mb/s, 10 s"),
            ("dumbbell-100g", "64 TCPs, 100 Gb/s, 30 ms"),
            ("leaf-spine", "32 hosts, 25 Gb/s, 10 ms"),
        )
    },
    "lecture": {
        "loses {:.1f} of its 12 cells": lambda: tail_drop_and_epd()["cells"][0],
        "in 10 s falls from {:.0f} to {:.0f}": lambda: tail_drop_and_epd()["timeouts"],
        "efficiency rises from {:.2f} to {:.2f}": lambda: tail_drop_and_epd()["efficiency"],
        "efficiency {:.3f}. Is all well": lambda: of_five_tcps("sack")[0],
        "The mean fairness is {:.3f}, and": lambda: of_five_tcps("sack")[1],
        "the mean fairness is {:.3f}, at an efficiency of {:.3f}": lambda: [
            number("lecture", rf"^selective-drop +20 +\S+ +\S+ +{more}") for more in (r"\S+ +\S+ +(\S+)", r"(\S+)")
        ],
        "has an efficiency of {:.3f}": lambda: number("lecture", r"88\.833  efficiency (\S+)"),
        "its mean of {:.3f}": lambda: of_five_tcps("vanilla")[0],
        "the mean of FBA is {:.3f}, with an interval from {:.3f} to {:.3f}": lambda: [
            number("lecture", rf"^fba +20 +\S+ +\S+ +{more}")
            for more in (r"(\S+)", r"\S+ +([\d.]+)\.\.", r"\S+ +[\d.]+?\.\.(\S+)")
        ],
        "that of tail drop lies between {:.3f} and {:.3f}": lambda: [
            number("lecture", rf"^tail-drop +20 +38\S+ +\S+ +\S+ +{end}")
            for end in (r"([\d.]+?)\.\.", r"[\d.]+?\.\.(\S+)")
        ],
    },
    "looks-wrong": {
        "yet the efficiency is {}. Fair": lambda: number("looks-wrong", r"214\.7  efficiency (\S+)"),
        "12 / 14 = {:.3f}": lambda: 12 / 14,
        "changes the fairness by {:.2f}": lambda: (
            number("looks-wrong", r"0\.469  fairness (\S+)") - number("looks-wrong", r"0\.457  fairness (\S+)")
        ),
        "all VCs are both {:.6f} s": lambda: {
            round(value or 0, 6)
            for run in [cy.examples.scenario("tcp-incast").run().only]
            for value in (run.totals.p99_transfer_s, max(vc.max_transfer_s or 0 for vc in run.vcs.values()))
        }.pop(),
        "shows at most {:.0f}": lambda: max(cy.examples.scenario("incast").run().only.series[0].value),
    },
    "trust": {"on {} random networks": lambda: sum(networks("oracle")[:3])},
    "accuracy": {"on {} random networks": lambda: sum(networks("oracle")[:3])},
    "architecture": {
        "Each of the {} Python packages": lambda: len(FLOORS),
        "some {:.0f} on links of 5 ms": lambda: round(5e-3 / (424 / 155.52e6), -2),
    },
    "command-line": {
        "That is {:.2f} with 4 replications, {:.2f} with 20, {:.2f} with 100": lambda: [
            ranges.share_inside(runs) for runs in (4, 20, 100)
        ],
    },
    "experiments": {
        "it goes from {:.0f} to {:.0f} cells": lambda: [
            number("ready-experiments", rf"value is\s+above\s+{end} cells")
            for end in (r"(\d+)", r"\d+ cells\s+and\s+at\s+most\s+(\d+)")
        ]
    },
    "explorer": {
        "{} stories compare": lambda: WORDS[len(explorer.stories())],
        "one file of {:.1f} MB": lambda: len(explorer_of(None).page()) / 1e6,
    },
    "gallery/buffer": {"(about {:.0f} cells)": lambda: round(queue_without_loss(), -2)},
    "gallery/fairness": {
        "{} runs do not show a difference in fairness": lambda: undecided("gallery/fairness", "fairness", "epd")
    },
    "gallery/index": {"{} questions. Each page": lambda: WORDS[sum(page.startswith("gallery/") for page in PAGES) - 1]},
    "gallery/program": {
        "by {:.2f} to {:.2f} over FBA, and the fairness does not suffer": lambda: gain_of_the_program()[:2],
        "The search chose a `pause` of {:.1f} ms": lambda: gain_of_the_program()[2],
        "takes the link {:.1f} ms": lambda: math.ceil(65_535 / 512) * 12 * 424 / 155.52e3,
    },
    "gallery/satellite": {
        "{} runs show no significant difference": lambda: undecided("gallery/satellite", "efficiency", "new-reno")
    },
    "model": {
        "`min_rto` = 1 s | {:.3f} | {:.3f} | 0.290 | 0.448 | {:.2f} | {:.2f} |": coarse_ticks,
    },
    "own-policy": {
        "alpha = 1 that is {} cells": lambda: round(5 * 1000 / 6),
        "The queue went up to {:.0f} cells": lambda: number("own-policy", r"max_queue_cells (\d+)"),
        "The prediction was {}": lambda: round(5 * 1000 / 6),
        "about {:.2f} at alpha = 1, {:.2f} at 16": lambda: [
            number("own-policy", rf"^ +{alpha}    20 +(0\.\d+) ") for alpha in (1, 16)
        ],
        "by {:.2f} to {:.2f}, and no difference": lambda: [
            number("own-policy", rf"0\.09519 \[{end}") for end in (r"([\d.]+)", r"[\d.]+, ([\d.]+)")
        ],
        "both have a mean efficiency of {:.2f}": lambda: number("own-policy", r"^selective-drop +20 +(0\.\d+) "),
    },
    "programs": {
        "{} examples restate policies": lambda: WORDS[len(examples("program-") - examples("program-scheduler-"))],
        "{} examples restate schedulers": lambda: WORDS[len(examples("program-scheduler-"))],
    },
    "start": {
        "Rust {} or newer and Python {} or newer": tools,
        "lists {} such questions": lambda: WORDS[len(experiments.names())],
    },
    "tutorial": {
        "to its limit of {} cells": queue_of_the_trunk,
    },
    "wireshark": {
        "`ethernet` above {} Gb/s": lambda: 84 * 8,
        "more than {} cells (an `mss` above {} bytes)": lambda: [
            (65_535 - 20) // 48,
            (65_535 - 20) // 48 * 48 - 56,
        ],
        "A cell takes {} bytes. With 512 bytes of data, an AAL5 frame takes {}, an Ethernet frame {} and a segment {}.": captured_bytes,
    },
}
LISTED = tomllib.loads((ROOT / "tests/prose_numbers.toml").read_text(encoding="utf-8"))
SOURCES = {
    (page, sentence): (file, patterns)
    for page, lists in LISTED.items()
    for sentence, _, rest in (line.partition(" <- ") for line in lists.get("source", ()))
    for file, *patterns in [rest.split(" ~ ")]
}


def pattern(sentence: str) -> re.Pattern[str]:
    """Return a pattern of a sentence with any numbers in its gaps."""
    gap = rf"((?i:\d+(?: \d{{3}})*(?:\.\d+)?|{'|'.join(WORDS)}))"
    return re.compile(gap.join(re.escape(part) for part in re.split(r"\{.*?\}", sentence)))


def check(page: str, sentence: str, made: object) -> None:
    """Compare the numbers of a sentence with these values, in the format of its gaps."""
    formats = re.findall(r"\{.*?\}", sentence)
    values = made if isinstance(made, list) else [made]
    found = [one.groups() for one in pattern(sentence).finditer(one_line(text(page)))]
    expected = [gap.format(value) for gap, value in zip(formats, values, strict=True)]
    assert found and all([number.replace(" ", "").lower() for number in numbers] == expected for numbers in found), (
        expected
    )


@pytest.mark.parametrize(("page", "sentence"), [(page, one) for page, each in COMPUTED.items() for one in each])
def test_a_result_in_prose_is_as_computed(page: str, sentence: str) -> None:
    check(page, sentence, COMPUTED[page][sentence]())


@pytest.mark.parametrize(("page", "sentence"), SOURCES)
def test_a_limit_in_prose_is_that_of_the_sources(page: str, sentence: str) -> None:
    file, patterns = SOURCES[page, sentence]
    code = (ROOT / file).read_text(encoding="utf-8")
    found = [re.search(each, code, re.M) for each in patterns]
    check(page, sentence, [one and one[1].replace("_", "") for one in found])


def test_the_table_of_random_networks_is_complete_and_right() -> None:
    rows = re.findall(r"^\| `(oracle\w*)\.rs` \| .* \| ([\d; ]+) \|$", text("promises"), re.M)
    found = {path.stem: networks(path.stem) for path in (ROOT / "crates/engine/tests/runs").glob("oracle*.rs")}
    found["oracle"] = [sum(found["oracle"][:3])]
    found["oracle_limits"] = [sum(found["oracle_limits"])]
    del found["oracle_red"][1:]
    told = {file: sorted(int(one.replace(" ", "")) for one in cell.split(";")) for file, cell in rows}
    assert told == {file: sorted(counts) for file, counts in found.items()}


@pytest.mark.parametrize("page", sorted(PAGES.keys() - GENERATED - {"model"}))  # the model defines its numbers
def test_no_number_in_prose_is_neither_computed_nor_fixed(page: str) -> None:
    listed = LISTED.get(page, {})
    skipped = (
        r"\A---\n.*?^---\n|^( *)```.*?^\1```|<!-- .*?, by scripts/.*?<!-- end -->|^\| (speed|`oracle\w*\.rs`) \|.*?$"
    )
    prose = re.sub(skipped, "", text(page), flags=re.M | re.S)
    sections = dict(re.findall(r"^#+ (.*)\n((?:(?!#+ ).*\n?)*)", prose, re.M))
    for title in listed.get("measured", ()):
        assert re.search(r"\d (October|November|December) 20\d\d", sections.pop(title)), f"{title}: measured when?"
    left = one_line("\n".join(sections.values()))
    for sentence in [*COMPUTED.get(page, ()), *(of for at, of in SOURCES if at == page)]:
        left = pattern(sentence).sub("", left)
    for fixed in listed.get("fixed", ()):
        assert fixed in left, f"no longer on the page: {fixed}"
        left = left.replace(fixed, "")
    left = NO_RESULT.sub("", re.sub(r"`[^`]*`|\]\([^)]*\)", "", left))
    assert not [left[max(0, one.start() - 50) : one.end() + 20] for one in RESULT.finditer(left)]
