"""The pages of `cellyard study report`: their content, their marks, and escaping."""

import base64
import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cellyard.commands import study_run
from cellyard.commands.explore import explorer_of
from cellyard.commands.picture import Picture
from cellyard.commands.study_pages import page, summary
from cellyard.show import explorer
from cellyard.show.text import format_range, format_value
from cellyard.study import Row, Rows, Study, Table, load, select, studies
from cellyard.study.answer import undecided
from cellyard.study.outliers import is_outside, outside, told, where_errors_come_from
from cellyard.study.rows import COUNTS
from cellyard.system.files import FileSet
from conftest import Cli

EMPTY = {"meta", "br", "img"}


class Page(HTMLParser):
    """An HTML page as its elements (tag, attributes, text), and as tables under their headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = [("", "")]
        #: Tables by heading: rows of cells as (class, text).
        self.tables: dict[str, list[list[tuple[str, str]]]] = {}
        self._open: list[str] = []
        self._heading = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        self.elements.append((tag, attributes))
        self.texts.append((tag, ""))
        if tag not in EMPTY:
            self._open.append(tag)
        if tag == "tr":
            self.tables.setdefault(self._heading, []).append([])
        if tag in ("td", "th"):
            self.tables[self._heading][-1].append((attributes.get("class", ""), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self.texts.append(("", ""))

    def handle_data(self, data: str) -> None:
        tag, before = self.texts[-1]
        self.texts[-1] = (tag, before + data)
        if "h2" in self._open:
            self._heading = data
        if {"td", "th"} & set(self._open):
            mark, cell_text = self.tables[self._heading][-1][-1]
            self.tables[self._heading][-1][-1] = (mark, cell_text + data)

    def attributes(self, tag: str, name: str) -> list[str]:
        return [attributes[name] for kind, attributes in self.elements if kind == tag and name in attributes]

    def text(self, tag: str) -> list[str]:
        return [" ".join(text.split()) for kind, text in self.texts if kind == tag]

    @property
    def whole(self) -> str:
        return " ".join("".join(text for _, text in self.texts).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of two tables of a study, one of them an ensemble."""
    out = tmp_path_factory.mktemp("report") / "deep/report"
    options = ["--table", "1", "--table", "2-3", "--replications", "1", "--out", out]
    command = [sys.executable, "-m", "cellyard", "study", "report", "ubr-plus", *options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    assert done.stdout == f"{out / 'index.html'}\n" and "index.html" not in done.stderr
    return out


@pytest.fixture(scope="module")
def document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "ubr-plus.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def shown(folder: Path) -> Page:
    return Page((folder / "index.html").read_text(encoding="utf-8"))


#: Parts of the JSON document that a page needs besides its rows.
DOCUMENT: dict[str, Any] = {
    "engine_version": "0",
    "seed": 1,
    "replications": 2,
    "centre": "median",
    "bottleneck_cells": 10**6,
    "timing": {"cpu_seconds": 1.0},
    "answer": [],
    "numbers": [],
    "evidence": [],
    "notes": [],
    "summary": {},
    "claims": [],
}

STUDY = load("ubr-plus")
TABLES = ("1", "2-3")
FIGURES = ("policies", "table-2-3", "figure-1", "figure-3")


def test_the_folder_has_pages_results_and_figures(folder: Path) -> None:
    of_study = {f"ubr-plus{end}" for end in (".json", ".csv", "-vcs.csv", "-scenarios.jsonl")}
    files = {"index.html", "README.md", "provenance.json", "runs.sqlite", "SHA256SUMS", *of_study}
    assert {path.name for path in folder.iterdir()} == files | {
        f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg", "pdf")
    }


def test_a_report_looks_as_the_explorer_does_light_and_dark(folder: Path) -> None:
    look = explorer.LOOK.read_text(encoding="utf-8").strip()
    assert "prefers-color-scheme: dark" in look
    assert look in (folder / "index.html").read_text(encoding="utf-8")
    assert look.encode() in explorer_of(None).files()["look.css"]


def leads(shown: Page) -> tuple[list[str], list[str]]:
    """Return the targets of links: headings of the page, each with a unique id, and files."""
    ids = {attributes["id"]: kind for kind, attributes in shown.elements if "id" in attributes}
    assert len(ids) == len([attributes for _, attributes in shown.elements if "id" in attributes])
    links = shown.attributes("a", "href")
    within = [link.removeprefix("#") for link in links if link.startswith("#")]
    assert all(ids[link] == "h2" for link in within)
    return within, [link for link in links if not link.startswith("#")]


def test_the_page_has_every_section_and_links_to_each(shown: Page, folder: Path) -> None:
    titles = ["Answer", "Behind the answer", "Agreement", "Claims", "Not matched", "Assumed", "Figures"]
    titles += [*(f"Table {name}" for name in TABLES), "Shared values"]
    assert shown.text("h2") == titles == shown.text("a")[: len(titles)]
    assert shown.text("h1") == [STUDY.title]
    within, files = leads(shown)
    assert within == shown.attributes("h2", "id")
    assert files == [f"{name}.{kind}" for name in FIGURES for kind in ("pdf", "svg")] and all(
        (folder / name).is_file() for name in files
    )
    assert "medians of 1 replications of each row" in shown.whole
    assert "Only the rows selected by --table 1 --table 2-3." in shown.whole


def test_a_report_of_some_rows_omits_sections_and_says_so() -> None:
    study = load("cell-discard")
    (row,) = study.tables["red"].rows[:1]
    metrics = dict.fromkeys(study.measures.names, 0.5)
    rows = Rows([replace(row, simulated=metrics)])
    pages = page(study, rows, DOCUMENT, []), summary(study, rows, DOCUMENT)
    for text in pages:
        assert "Not shown, as only a part of their tables was run" in text and "red (1 of" in text
    assert not {"Agreement", "Claims", "Not matched"} & set(Page(pages[0]).text("h2"))
    headings = re.findall(r"^## (.*)$", pages[1], re.M)
    assert "Answer" in headings and not {"Agreement", "Claims", "Not matched"} & set(headings)


def test_claims_of_few_replications_have_a_caveat() -> None:
    study = load("ubr-plus")
    claims = [{"verdict": "holds", "text": "A claim.", "evidence": "numbers"}]
    for replications, has_caveat in ((None, True), (5, True), (6, False)):
        document = {**DOCUMENT, "claims": claims, "replications": replications}
        for text in (page(study, Rows(()), document, []), summary(study, Rows(()), document)):
            assert undecided(replications) in text
            assert ("Not decided: " in text) is has_caveat


def test_omitted_figures_are_counted_and_drawing_reports_its_progress(
    shown: Page, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "4 of the study's 8 figures: the others show rows that were not run."
    assert sentence in shown.text("p") and sentence in (folder / "README.md").read_text(encoding="utf-8")
    assert study_run.undrawn_note(STUDY, 8) == ""
    assert study_run.undrawn_note(STUDY, 0).startswith("None of the study's 8 figures: all show")

    monkeypatch.setattr(study_run, "LINE_SECONDS", 0.0)
    rows = Rows(replace(row, simulated={"efficiency": 0.5, "fairness": 0.5}) for row in STUDY.tables["4"].rows)
    with FileSet(tmp_path) as files:
        assert len(study_run.draw(STUDY, rows, files)) == 2
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == [
        "ubr-plus: 1 of 2 figures drawn",
        "ubr-plus: 2 of 2 figures drawn",
    ]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_on_the_page_has_every_row_with_simulated_range_and_published(
    shown: Page, document: dict[str, Any], name: str
) -> None:
    table = STUDY.tables[name]
    heads, *lines = shown.tables[f"Table {name}"]
    of_metrics = [head for metric in table.metrics for head in (metric, "min-max", "published", "diff")]
    assert [text for _, text in heads] == [*table.parameters, *of_metrics]
    rows = [row for row in document["rows"] if row["table"] == name]
    assert len(lines) == len(rows) == len(table.rows)
    for line, row in zip(lines, rows, strict=True):
        texts = [text for _, text in line]
        assert texts[: len(table.parameters)] == [str(row[p]) for p in table.parameters]
        for metric, place in zip(table.metrics, range(len(table.parameters), len(texts), 4), strict=True):
            assert texts[place] == format_value(row["simulated"][metric])
            assert texts[place + 1] == format_range(row["range"][metric], is_count=metric in COUNTS)
            published, star, _ = texts[place + 2].partition("*")
            assert float(published) == row["published"][metric] and bool(star) == ("note" in row)
            assert float(texts[place + 3]) == pytest.approx(row["simulated"][metric] - float(published), abs=0.5)


def test_the_page_begins_with_the_answer_of_the_document(shown: Page, folder: Path, document: dict[str, Any]) -> None:
    assert len(document["answer"]) == 6 and shown.text("h2")[0] == "Answer"
    assert shown.text("li") == document["answer"]
    text = (folder / "README.md").read_text(encoding="utf-8")
    # Each has a line. The front page quotes the first.
    lines = "\n".join(f"{k}. {one}" for k, one in enumerate(document["answer"], 1))
    assert f"## Answer\n\n{lines}\n\n![" in text
    assert text.index("](policies.png)") < text.index("## Behind the answer")
    ids = [attributes["id"] for _, attributes in shown.elements if "id" in attributes]
    assert ids.index("answer") < ids.index("fig-policies") < ids.index("behind-the-answer")
    first = document["rows"][-1]["simulated"]
    assert all(isinstance(first[metric], float) for metric in ("efficiency", "fairness"))


@pytest.mark.parametrize(
    ("name", "table", "figure", "key", "values"),
    [
        ("ubr-plus", "2-3", "policies", "drop_policy", ("epd", "fba")),
        ("ubr-plus", "2-3", "agreement", "drop_policy", ("fba",)),
        ("guaranteed-rate", "1-2", "periods", "drop_policy", ("selective-drop",)),
    ],
)
def test_services_and_policies_have_fixed_colours_and_markers(
    name: str, table: str, figure: str, key: str, values: tuple[str, ...]
) -> None:
    def styles(rows: Rows) -> dict[str, tuple[Any, Any]]:
        drawn = getattr(study.part("figures"), figure)(study, rows).figure
        lines = {container.get_label(): container.lines[0] for axes in drawn.axes for container in axes.containers}
        return {label: (line.get_color(), line.get_marker()) for label, line in lines.items()}

    study = load(name)
    rows = study.tables[table].rows
    rows = Rows(replace(row, simulated=dict.fromkeys(study.measures.names, 0.5)) for row in rows)
    of_all, chosen = styles(rows), styles(rows.where(**{key: values}))
    assert len(of_all) > len(chosen) == len(values)
    assert chosen.items() <= of_all.items()


def test_every_figure_is_on_the_page_and_in_a_file(shown: Page, folder: Path) -> None:
    assert shown.attributes("figure", "id") == [f"fig-{name}" for name in FIGURES]
    for title, alt in zip(shown.text("h3"), shown.attributes("img", "alt"), strict=True):
        assert alt.startswith(f"{title}. ") and " to " in alt and len(alt) < 2000
    assert all(shown.text("figcaption"))
    for name, source in zip(FIGURES, shown.attributes("img", "src"), strict=True):
        image = base64.b64decode(source.removeprefix("data:image/png;base64,"))
        whole = (folder / f"{name}.png").read_bytes()
        # The page has the picture of the file, in fewer colours: width and height are equal.
        assert image.startswith(b"\x89PNG") and image[16:24] == whole[16:24] and len(image) < len(whole)


def judged_apart(document: dict[str, Any]) -> dict[tuple[str, str, str], float]:
    """Return published values outside their range, by table, row and metric, with their distances.

    They are computed from the JSON document.
    """
    found = {}
    for row in document["rows"]:
        parameters = ", ".join(str(row[name]) for name in STUDY.tables[row["table"]].parameters)
        for metric, published in row["published"].items():
            low, high = row["range"][metric]
            half = 0.5 if metric == "max_queue_cells" else 0.005
            if not low - half <= published <= high + half:
                distance = abs(row["simulated"][metric] - published) / max(published, 1)
                found[row["table"], parameters, metric] = distance
    return found


def test_rows_not_matched_are_those_far_outside_and_all_outside_are_marked(
    shown: Page, document: dict[str, Any]
) -> None:
    outside = judged_apart(document)
    far = {key: distance for key, distance in outside.items() if distance > 0.1}
    assert far and len(far) < len(outside)
    _, *listed = shown.tables["Not matched"]
    assert [tuple(text for _, text in line[:3]) for line in listed] == sorted(far, key=lambda key: -far[key])
    assert f"; {len(outside) - len(far)} more are outside but closer" in shown.whole
    for name in TABLES:
        table = STUDY.tables[name]
        _, *lines = shown.tables[f"Table {name}"]
        marked = {
            (name, ", ".join(text for _, text in line[: len(table.parameters)]), metric)
            for line in lines
            for number, metric in enumerate(table.metrics)
            if "out" in line[len(table.parameters) + 4 * number + 2][0].split()
        }
        assert marked == {key for key in outside if key[0] == name}
        assert not any("out" in mark.split() for line in lines for mark, text in line if ".." in text)


def test_the_summary_has_the_same_content_in_markdown(folder: Path, document: dict[str, Any]) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    command = "cellyard study report ubr-plus --table 1 --table 2-3"
    assert f"Written by `{command}` with 1 replications (simulated values are medians), seed 1, " in text
    far = {key: distance for key, distance in judged_apart(document).items() if distance > 0.1}
    listed = [
        line.split(" | ")
        for line in text.split("## Not matched")[1].split("\n## ")[0].splitlines()
        if line.startswith("| ")
    ]
    assert [(table[2:], row, metric) for table, row, metric, *_ in listed[2:]] == sorted(far, key=lambda key: -far[key])
    for claim in document["claims"]:
        assert f"- **{claim['verdict']}**: {claim['text']}\n  {claim['evidence']}.\n" in text
    assert text.count("- **") == len(document["claims"]) + len(STUDY.info["assumed"])
    headings = re.findall("^## (.*)$", text, re.M)
    titles = ["Answer", "Behind the answer", "Agreement", "Claims", "Not matched", "Assumed", "Figures"]
    assert headings == [*titles, *(f"Table {name}" for name in TABLES)]
    behind = text.split("## Behind the answer")[1].split("## Agreement")[0]
    named = [line.split(" | ")[1] for line in behind.splitlines() if line.startswith("| ")]
    numbers = [one["what"] for one in document["numbers"]]
    assert named == ["what", "---", *numbers, "what", "---", *(one["what"] for one in document["evidence"])]
    assert behind.count("not decided") == len(document["evidence"]) > 10  # of one replication
    images = re.findall(r"^!\[.+\]\((.+)\)$", text, re.M)
    assert images == [f"{name}.png" for name in FIGURES] and all((folder / name).is_file() for name in images)
    for name in TABLES:
        lines = text.split(f"## Table {name}\n")[1].split("## ")[0].splitlines()
        cells = [line.count("|") for line in lines if line.startswith("|")]
        assert len(cells) == 2 + len(STUDY.tables[name].rows) and len(set(cells)) == 1
        first = next(number for number, line in enumerate(lines) if line.startswith("|"))
        assert all(line.startswith("|") for line in lines[first : first + len(cells)])


@pytest.mark.parametrize("name", sorted(studies()))
def test_the_page_of_a_whole_study_has_every_table_claim_and_assumption(name: str) -> None:
    study = load(name)
    metrics = {metric for table in study.tables.values() for metric in table.metrics}
    rows = Rows(replace(row, simulated=dict.fromkeys(metrics, 0.5)) for row in select(study))
    claims = [{"text": claim.text, "verdict": "holds", "evidence": "none"} for claim in study.claims]
    pictures = [Picture(f"table-{table}", "title", "text", "alt", "") for table in study.tables]
    found = Page(page(study, rows, {**DOCUMENT, "claims": claims}, pictures))
    tables = [title for title in found.text("h2") if title.startswith("Table ")]
    assert tables == [f"Table {table}" for table in study.tables]
    assert all(len(found.tables[f"Table {key}"]) == 1 + len(table.rows) for key, table in study.tables.items())
    assert [text for text in found.text("div") if text in {claim["text"] for claim in claims}] == [
        claim["text"] for claim in claims
    ]
    assert len(found.tables["Assumed"]) == 1 + len(study.info["assumed"])
    within, files = leads(found)
    assert within == found.attributes("h2", "id")
    assert files == [f"table-{table}.{kind}" for table in study.tables for kind in ("pdf", "svg")]
    assert "Only the rows" not in found.whole


def test_rows_that_match_are_not_listed_as_unmatched() -> None:
    text = "published {a.published[efficiency]}, simulated {a.simulated[efficiency]}, "
    text += "error {a.error[efficiency]}, rank {a.rank[efficiency]}"
    study = Study("s", Path(), {"unmatched": [{"text": text, "rows": {"a": {"table": "t"}}}]})
    apart = ["published 0.50, simulated 0.80, error 0.30, rank not defined"]
    for simulated, expected in ((0.8, apart), (0.52, [])):
        row = Row("t", {"n": 1}, {"efficiency": 0.5}, simulated={"efficiency": simulated})
        assert told(study, Rows([row])) == expected
    assert told(study, Rows()) == []


def row(published: float | None, simulated: float, low: float, high: float, metric: str = "efficiency") -> Row:
    values = {metric: simulated}
    return Row("t", {"n": 1}, {metric: published}, simulated=values, ranges={metric: (low, high)})


@pytest.mark.parametrize(
    ("judged", "is_out", "is_far"),
    [
        (row(0.50, 0.5, 0.4, 0.6), False, False),
        (row(0.80, 0.5, 0.4, 0.6), True, True),
        (row(0.20, 0.5, 0.4, 0.6), True, True),
        (row(0.62, 0.55, 0.5, 0.6), True, False),
        (row(0.80, 0.5, 0.4, 0.9), False, False),
        (row(0.61, 0.5, 0.4, 0.6051), False, False),  # 0.605 was printed as 0.61
        (row(None, 0.5, 0.4, 0.6), False, False),
        (replace(row(0.80, 0.5, 0.4, 0.6), doubtful=frozenset(["efficiency"])), False, False),
        (replace(row(0.80, 0.5, 0.4, 0.6), ranges={}), False, False),
        (row(1000, 1050, 1040, 1060, "max_queue_cells"), True, False),
        (row(1000, 1200, 1190, 1210, "max_queue_cells"), True, True),
    ],
    ids=["inside", "above", "below", "near", "wide", "rounded", "none", "doubtful", "single", "near count", "far count"],
)  # fmt: skip
def test_a_published_value_is_out_beyond_its_range_and_listed_when_far(judged: Row, is_out: bool, is_far: bool) -> None:
    metric = next(iter(judged.published))
    assert is_outside(judged, metric) is is_out
    far, nearer = outside(Rows([judged]))
    assert far == ([(judged, metric)] if is_far else [])
    assert nearer == (1 if is_out and not is_far else 0)


#: Text that closes any element it stands in, unless escaped.
EVIL = """</td></p>"><i id="claims">'|`*_&amp;"""


@pytest.fixture
def hostile(tmp_path: Path) -> Study:
    """Return a study whose texts and names are all markup."""
    in_csv = EVIL.replace('"', '""')
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/t.csv").write_text(
        f'"p {in_csv}",efficiency,note\n"v {in_csv}",0.9,"n {in_csv}"\n', encoding="utf-8"
    )
    info = {
        "name": EVIL,
        "group_by": [],
        "citation": {key: f"{key} {EVIL}" for key in ("title", "authors", "where", "year")},
        "shared": {f"k {EVIL}": {"inner": f"s {EVIL}"}},
        "table": [{"name": f"t {EVIL}", "file": "t.csv", "title": f"title {EVIL}", "metrics": ["efficiency"]}],
        "unmatched": [{"text": f"u {EVIL}"}],
        "assumed": [{key: f"{key} {EVIL}" for key in ("what", "value", "tried", "effect", "reason")}],
    }
    return Study(EVIL, tmp_path, info)


def results_of(study: Study) -> tuple[Rows, dict[str, Any]]:
    """Return one row far from the published value, and a document with a claim."""
    rows = Rows(replace(row, simulated={"efficiency": 0.5}, ranges={"efficiency": (0.4, 0.6)}) for row in select(study))
    whole: dict[str, Any] = {"rows": 2, "mean_abs_error": 0.4, "inside_range": 0, "expected_inside": 0.5}
    whole |= dict.fromkeys(["error_margin", "rank_correlation"])
    document = {
        **DOCUMENT,
        "summary": {f"m {EVIL}": {**whole, "groups": [{"table": f"g {EVIL}", **whole, "rows": 1}]}},
        "claims": [{"text": f"claim {EVIL}", "verdict": "contradicted", "evidence": f"evidence {EVIL}"}],
    }
    return rows, document


def test_no_text_of_a_study_becomes_html(hostile: Study) -> None:
    rows, document = results_of(hostile)
    figure = Picture(f"f {EVIL}", f"F {EVIL}", f"caption {EVIL}", f"shown {EVIL}", "")
    found = Page(page(hostile, rows, document, [figure], chosen=[f"t {EVIL}"]))
    assert "i" not in {tag for tag, _ in found.elements}
    known = {"id", "class", "colspan", "href", "src", "alt", "name", "charset", "content", "lang"}
    assert {name for _, attributes in found.elements for name in attributes} <= known
    assert (found.attributes("img", "alt"), found.text("h3")) == ([f"shown {EVIL}"], [f"F {EVIL}"])
    starts = shlex.split("title authors p v n k s Title t u what value tried effect reason m claim evidence caption")
    for start in (*starts, "table g"):
        assert f"{start} {EVIL}" in found.whole, start
    assert [text for mark, text in found.tables[f"Table t {EVIL}"][-1] if "out" in mark] == ["0.90*"]


def test_no_text_of_a_study_becomes_markup_in_the_summary(hostile: Study) -> None:
    rows, document = results_of(hostile)
    text = summary(hostile, rows, document)
    assert "<" not in text and text.count("&lt;i id=") > 15
    escaped = r"""&lt;/td&gt;&lt;/p&gt;"&gt;&lt;i id="claims"&gt;'\|\`\*\_&amp;amp;"""
    assert f"- **contradicted**: claim {escaped}\n  evidence {escaped}.\n" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert sorted(len(re.findall(r"(?<!\\)\|", line)) for line in tables) == 3 * [6] + 7 * [7]


def test_an_assumption_without_alternatives_names_none_in_the_summary(hostile: Study) -> None:
    rows, document = results_of(hostile)
    assert "Tried: tried" in summary(hostile, rows, document)
    hostile.info["assumed"][0]["tried"] = ""
    text = summary(hostile, rows, document)
    assert "Tried" not in text and ". Effect: effect" in text


def test_without_replications_nothing_is_judged_by_its_range(hostile: Study) -> None:
    rows, document = results_of(hostile)
    single = Rows(replace(row, ranges={}) for row in rows)
    found = Page(page(hostile, single, {**document, "replications": None, "centre": None, "claims": []}, []))
    assert "one run of each row as published" in found.whole
    assert (
        found.text("h2")
        == ["Agreement", "Not matched", "Assumed", f"Table t {EVIL}", "Shared values"]
        == found.text("a")
    )
    assert [text for _, text in found.tables[f"Table t {EVIL}"][0]] == [f"p {EVIL}", "efficiency", "published", "diff"]


def test_runs_that_figures_show_draw_from_the_seed_that_is_asked_for(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int | None] = []

    def draw(study: Study, *_: object) -> list[Picture]:
        seen.append(study.seed)
        return []

    monkeypatch.setattr(study_run, "draw", draw)
    row = "--where configuration=lan --where sources=5 --where buffer_cells=1000 --where drop_policy=epd"
    cli.ok(*shlex.split(f"study report ubr-plus --table 2-3 {row} --replications 1 --seed 7"))
    assert seen == [7]


def test_the_rows_that_make_half_of_an_error_are_named_the_worst_first() -> None:
    study = Study("s", Path(), {"told": ["efficiency"], "table": []})
    study.tables["t"] = Table("t", "", ("efficiency",), Rows(), published=True)
    errors = {1: 0.1, 2: 0.3, 3: 0.2, 4: 0.0}  # 0.6 together
    rows = Rows(
        Row("t", {"n": n}, {"efficiency": 0.5}, simulated={"efficiency": 0.5 + error}) for n, error in errors.items()
    )
    sentence = "At least half of the error in efficiency comes from 1 of 4 rows: table t (2) 50 %."
    assert where_errors_come_from(study, rows) == [sentence]
    assert where_errors_come_from(study, rows.where(n=(1, 3)))[0].endswith("1 of 2 rows: table t (3) 67 %.")
    assert not where_errors_come_from(study, rows.where(n=4))
