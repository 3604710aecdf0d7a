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

import cellyard as cy
import drawings
from cellyard.experiment import examples as experiments
from cellyard.study import Study, load, studies
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
    """Return the table of the site's first page: the question and the stored answer of each study."""
    lines = ["| question | answer |", "|---|---|"]
    for study in studies().values():
        link = f"[{study.question}](../python/cellyard/studies/{study.folder.name}/README.md)"
        lines.append(f"| {link} | {study.in_short} |")
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
    "abr-vbr-200": "ABR with ERICA alongside VBR, 200 TCPs",
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
    """Return what the page on trust says."""
    speeds = [speed for speed, _ in record.cases.values()]
    rows, seconds = record.passes["ubr-plus"]
    return (
        f"{min(speeds):.0f} to {max(speeds):.0f} million cells at bottlenecks per second of CPU "
        f"time, by case: [Speed](speed.md). "
        f"The {rows} rows of {TABLES['ubr-plus']} take {seconds:g} s on two cores."
    )


def with_speed(page: str) -> str:
    """Return a page with up-to-date figures in its row on speed."""
    return re.sub(r"^\| speed \| .* \|$", lambda _: f"| speed | {sentence(newest())} |", page, flags=re.M)


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


#: Examples by what they are about; those of programs begin with `program-`.
EXAMPLES = {
    "TCP over UBR": (
        *("lan-5", "zero-loss", "wan-15", "satellite", "two-hops", "two-way", "mixed-rates", "access-red"),
        *("file-transfers", "lossy-link"),
    ),
    "Packets, and cells of other sizes": (
        *(
            "incast",
            "tcp-incast",
            "incast-shared",
            "chip-threshold",
            "ties",
            "dumbbell-100g",
            "leaf-spine",
            "home-line",
            "cells-256",
        ),
    ),
    "Rates, contracts and other classes": (
        *("abr-erica", "abr-shares", "gfr-beside-udp", "policed", "vbr-guaranteed-rate", "come-and-go"),
    ),
    "Queues with a closed form": ("cbr", "poisson"),
}
EXAMPLES_HEAD = """# Examples

`cellyard example NAME > NAME.toml` writes an example, `cellyard run NAME.toml` runs it, and its picture
opens it in the explorer. Red marks ports that can queue.
"""
EXPERIMENTS_HEAD = """## Ready experiments

`cellyard example --experiments NAME > NAME.toml` writes one. `cellyard experiment run NAME.toml` answers it,
for this network or for yours.
"""


def examples_page() -> str:
    """Return docs/examples.md: a drawing and a sentence for each example and each ready experiment."""
    programs = tuple(name for name in cy.examples.names() if name.startswith("program-"))
    parts = [EXAMPLES_HEAD]
    for title, names in (EXAMPLES | {"Policies and schedulers as programs": programs}).items():
        parts.append(f"## {title}\n")
        for name in names:
            shown = f"[![{name}](figures/{drawings.file_of(name)})](explore:example={name})"
            parts.append(f"* {shown} `{name}`: {_short(cy.examples.text(name), program=name in programs)}")
        parts.append("")
    parts.append(EXPERIMENTS_HEAD)
    parts += [
        f"* ![{name}](figures/{drawings.file_of(name)}) `{name}`: {_short(experiments.text(name))}"
        for name in experiments.names()
    ]
    return "\n".join(parts) + "\n"


def _short(example: str, *, program: bool = False) -> str:
    """Return the first line of an example, which says what it shows, without sources and second thoughts."""
    line = re.sub(r" \([^()]*(study|section|row)[^()]*\)", "", example.splitlines()[0].lstrip("# "))
    if program:
        return line.partition(" as a program")[0] + "."
    return line.split("; ")[0].rstrip(".?") + line[-1]


def _filled(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


#: Number of texts on rows that do not match that a study's page quotes.
MISSES = 4
#: Number of assumptions that a study's page shows; the report has all.
ASSUMED = 3


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without its full stop.

    >>> first_sentence("Means 0.5. By tcp: sack 0.95."), first_sentence("no more")
    ('Means 0.5', 'no more')
    """
    return re.split(r"\.(?:\s+(?=[A-Z])|$)", text, maxsplit=1)[0]


def claims_table(claims: str) -> str:
    """Return the claims of a summary as a table, with the first sentence of each one's evidence.

    >>> rule = "Of 6 conditions (5 needed), 4 are shown to hold and 1 to be violated"
    >>> table = claims_table(f"- **not decided**: EPD helps.{chr(10)}  higher in 5 of 6 rows. {rule}.{chr(10)}")
    >>> print(table.splitlines()[2])
    | **not decided** | EPD helps | Higher in 5 of 6 rows; 5 of 6 must be significant, 4 are |
    """
    lines = ["| verdict | claim of the paper | in the simulation |", "|---|---|---|"]
    for verdict, claim, evidence in re.findall(r"^- \*\*(.*?)\*\*: (.*)\n  (.*)$", claims, re.M):
        shown = first_sentence(evidence)
        if verdict != "holds":
            rules = re.findall(r"Of (\d+) conditions \((\d+) needed\), (\d+) are shown to hold", evidence)
            missed = [rule for rule in rules if int(rule[2]) < int(rule[1])]
            shown += "".join(f"; {needed} of {of} must be significant, {held} are" for of, needed, held in missed[:1])
        lines.append(f"| **{verdict}** | {claim.removesuffix('.')} | {shown[0].upper()}{shown[1:]} |")
    return "\n".join(lines)


def assumptions(study: Study) -> str:
    """Return the list of what a paper does not state, with what is assumed: the first entries, and the number of others."""
    entries = study.info.get("assumed", ())
    lines = [f"* *{one['what']}:* {re.split('[.;] ', one['value'])[0]}" for one in entries[:ASSUMED]]
    if len(entries) > ASSUMED:
        lines.append(f"* and {len(entries) - ASSUMED} more")
    return "\n".join(lines)


def study_page(study: Study, summary: str) -> tuple[str, str]:
    """Return the page of a study, made from the summary of its report, and the file of its figure."""
    head, *sections = re.split(r"^## ", summary, flags=re.MULTILINE)
    part = {title: body.strip() for title, _, body in (section.partition("\n") for section in sections)}
    figure = re.search(r"^!\[(?:Figure \d+: )?([^:(\]]*).*\]\((.*)\)$", part["Answer"], re.MULTILINE)
    written = re.search(r"^Written by (.*)$", head, re.MULTILINE)
    if not figure or not written:
        raise SystemExit(f"{study.name}: the report lacks its figure or its first line")
    cited = study.info["citation"]
    answer = re.sub(r"\n+Note: .*", "", part["Answer"])
    answer = answer.replace(figure[0], f"![{figure[1].strip()}](../../../../docs/figures/study-{study.name}.png)")
    measures = [f"*{name[0].upper()}{name[1:]}*: {text}." for name, text in study.meanings.items() if name in answer]
    misses = [
        text
        for text in part.get("Not matched", "").split("\n\n")
        if text and not text.startswith(("At least", "|", "Listed"))
    ]
    missed = "\n".join(f"* {first_sentence(text)}." for text in misses[:MISSES])
    parts = [
        f"# {study.question} ({study.name}, {cited['year']})",
        f"{cited['authors']}: *{cited['title']}*. {cited['where'][0].upper()}{cited['where'][1:]}.",
        study.info["setting"],
        "\n\n".join(measures),
        f"## Answer\n\n{answer}",
        f"## Claims\n\nVerdicts rest on 95 % intervals.\n\n{claims_table(part['Claims'])}",
        f"## What does not match\n\n{missed}" if missed else "",
        f"## Assumed where the paper is silent\n\n{assumptions(study)}",
        f"Full report: {written[1].replace('simulated values are ', '')}",
    ]
    return "\n\n".join(filter(None, parts)) + "\n", figure[2]


def main() -> None:
    """Write the page of a study and its figure."""
    report = Path(sys.argv[1])
    name = json.loads((report / "provenance.json").read_text(encoding="utf-8"))["content"].removeprefix("the study ")
    study = load(name)
    page, figure = study_page(study, (report / "README.md").read_text(encoding="utf-8"))
    (study.folder / "README.md").write_text(page, encoding="utf-8")
    keep(f"study-{name}", (report / figure).read_bytes())


if __name__ == "__main__":
    main()
