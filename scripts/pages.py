"""Tables and pages of the documentation that come from records and reports.

scripts/generate.py writes most of them. `python scripts/pages.py REPORT` writes the page of a study from
the folder that `cellyard study report` made: the answer, the claims, mismatches, and one figure.
"""

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

from cellyard.study import load, studies
from pictures import keep

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "benches/record"


def between_marks(page: str, name: str, text: str) -> str:
    """Return a page with ``text`` between the marks of ``name``."""
    made, count = re.subn(
        rf"(?s)(<!-- {name}, by scripts/generate.py -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}{text}\n{m[2]}", page
    )
    if count != 1:
        raise SystemExit(f"a page lacks the marks of {name}")
    return made


def study_table() -> str:
    """Return the table of the front page: the question and the stored answer of each study."""
    lines = ["| study | question | answer |", "|---|---|---|"]
    for study in studies().values():
        link = f"[`{study.name}`](python/cellyard/studies/{study.folder.name}/README.md)"
        lines.append(f"| {link} | {study.question} | {study.in_short} |")
    return "\n".join(lines)


#: What each case simulates; benches/README.md has the rest.
CASES = {
    "lan-2": "LAN, 2 TCPs, no loss",
    "lan-5": "LAN, 5 TCPs, no loss",
    "lan-15": "LAN, 15 TCPs, no loss",
    "lan-100": "LAN, 100 TCPs, no loss",
    "newreno-lan-5": "LAN, 5 NewReno TCPs, EPD",
    "newreno-lan-15": "LAN, 15 NewReno TCPs, EPD",
    "newreno-wan-5": "WAN, 5 NewReno TCPs, EPD",
    "newreno-wan-15": "WAN, 15 NewReno TCPs, EPD",
    "tables-2-3": "the 48 rows of Tables 2-3 of `ubr-plus`",
    "tables-2-3-lan": "the rows of Tables 2-3 on the LAN",
    "two-hops": "two congested hops",
    "mixed-rates": "155.52 Mb/s into 33.92 Mb/s",
    "vbr-priority-lan": "VBR of higher priority and TCP, LAN",
    "vbr-priority-wan": "VBR of higher priority and TCP, WAN",
    "vbr-guaranteed-lan": "VBR and TCP with a guaranteed rate, LAN",
    "vbr-guaranteed-wan": "VBR and TCP with a guaranteed rate, WAN",
    "satellite": "satellite",
    "gfr-chain": "frame-rate guarantees by leaky buckets, a chain of four switches",
    "gfr-peers": "frame-rate guarantees by leaky buckets, one link, 10 TCPs",
    "gfr-udp": "frame-rate guarantees by leaky buckets, 5 TCPs and 5 greedy UDPs",
    "gfr-weighted": "frame-rate guarantees by a queue for each VC",
    "abr-lan-15": "ABR with ERICA, LAN, 15 TCPs",
    "abr-wan-15": "ABR with ERICA, WAN, 15 TCPs",
    "abr-vbr-200": "ABR with ERICA beside VBR, 200 TCPs",
    "abr-lan-300": "ABR with ERICA, LAN, 300 TCPs",
    "abr-wan-300": "ABR with ERICA, WAN, 300 TCPs",
    "red-lan": "RED on a LAN, 10 TCPs",
    "red-access": "RED on an access network, 50 TCPs",
}

#: Tables of studies that passes run.
TABLES = {"ubr-plus": "Tables 1 to 4 of `ubr-plus`", "guaranteed-rate": "Tables 1 to 9 of `guaranteed-rate`"}


class Record(NamedTuple):
    """A record of `make bench`: its file and title, the cases, and the passes over a study."""

    path: Path
    title: str
    #: By case: million cells per CPU second, and time per cell relative to the reference loop.
    cases: dict[str, tuple[float, float]]
    #: By study: rows, and wall-clock seconds on two threads.
    passes: dict[str, tuple[int, float]]


def read(path: Path) -> Record:
    """Read a record; it has no cases if another command printed it."""
    text = path.read_text(encoding="utf-8")
    part = text.partition("Bottleneck cells per CPU second")[2].partition("\n\n")[0]
    lines = [line.split() for line in part.splitlines()[2:] if " " in line and "goal, aim:" not in line]
    passes = re.findall(r"^pass-(\S+) +(\d+) +\d+ +[\d.]+ +([\d.]+)", text, re.M)
    return Record(
        path,
        text.partition("\n")[0].removeprefix("# "),
        {name: (float(speed), float(relative)) for name, _, speed, *_, relative in lines},
        {name: (int(rows), float(seconds)) for name, rows, seconds in passes},
    )


def newest() -> Record:
    """Return the newest record of `make bench`."""
    return max((record for path in RECORDS.glob("*.md") if (record := read(path)).cases), key=lambda one: one.path.name)


def sentence(record: Record) -> str:
    """Return what the front page says."""
    speeds = [speed for speed, _ in record.cases.values()]
    rows, seconds = record.passes["ubr-plus"]
    return (
        f"{min(speeds):.0f} to {max(speeds):.0f} million bottleneck cells per CPU second, by case: "
        f"[Speed](docs/speed.md). "
        f"The {rows} rows of {TABLES['ubr-plus']} take {seconds:g} s on two cores."
    )


def with_speed(front: str) -> str:
    """Return the front page with up-to-date figures."""
    return re.sub(r"^\| speed \| .* \|$", lambda _: f"| speed | {sentence(newest())} |", front, flags=re.M)


def speed_page() -> str:
    """Return docs/speed.md."""
    record = newest()
    lines = [f"| {CASES[name]} | {speed:.1f} | {relative:.2f} |" for name, (speed, relative) in record.cases.items()]
    passes = [f"the {rows} rows of {TABLES[study]} take {wall:g} s" for study, (rows, wall) in record.passes.items()]
    source = f"[{record.title.partition(':')[0]}](../benches/record/{record.path.name})"
    head = (
        "`make bench` prints bottleneck cells per CPU second of whole runs. Bottleneck cells are data cells sent by "
        f"ports that can queue. The table has every case of the newest record: {source}, one thread. The engine has "
        "changed since, so measure on your machine before you compare."
    )
    foot = (
        "The last column is the time per cell divided by that of the reference loop: a bare FIFO port, measured in "
        f"the same minute. On two threads, {' and '.join(passes)}. [benches/README.md](../benches/README.md) explains "
        "what is measured and how, and has the goals."
    )
    table = "\n".join(
        ["| case | million cells per CPU second | time relative to the reference loop |", "|---|---|---|", *lines]
    )
    return "\n\n".join(["# Speed", _filled(head), table, _filled(foot)]) + "\n"


def _filled(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


#: Sections of the summary that are kept, in this order.
KEPT = ("Answer", "Measures", "Claims", "Not matched", "Behind the answer")


def study_page(name: str, summary: str) -> tuple[str, str]:
    """Return the page of a study, made from the summary of its report, and the file of its figure."""
    head, *sections = re.split(r"^## ", summary, flags=re.MULTILINE)
    by_title = {title: body for title, _, body in (section.partition("\n") for section in sections)}
    parts = {title: f"## {title}\n{by_title[title]}" for title in KEPT if title in by_title}
    if "Not matched" in parts:  # without the list of all values
        parts["Not matched"] = re.sub(r"^(\|.*|Listed: .*\n)\n", "", parts["Not matched"], flags=re.MULTILINE)
    if "Behind the answer" in parts:  # without the differences
        parts["Behind the answer"] = parts["Behind the answer"].partition("Replications with one number")[0]
    figure = re.search(r"^(?P<begin>!\[.*\]\()(?P<file>.*)\)$", parts["Answer"], re.MULTILINE)
    if not figure:
        raise SystemExit(f"{name}: the report has no figure")
    shown = f"{figure['begin']}../../../../docs/figures/study-{name}.png)"
    parts["Answer"] = parts["Answer"].replace(figure[0], shown)
    rest = (
        f"The report of `cellyard study report {name}` has all tables and figures, the agreement by table and group, "
        "the differences behind the answer, and what was assumed.\n"
    )
    return head + "".join(parts.values()) + rest, figure["file"]


def main() -> None:
    """Write the page of a study and its figure."""
    report = Path(sys.argv[1])
    name = json.loads((report / "provenance.json").read_text(encoding="utf-8"))["content"].removeprefix("the study ")
    page, figure = study_page(name, (report / "README.md").read_text(encoding="utf-8"))
    (load(name).folder / "README.md").write_text(page, encoding="utf-8")
    keep(f"study-{name}", (report / figure).read_bytes())


if __name__ == "__main__":
    main()
