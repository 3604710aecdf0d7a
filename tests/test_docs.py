"""Examples in the documentation run as written."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import cellyard as cy
import pytest
from cellyard import _engine
from cellyard.experiment import examples as experiments
from cellyard.study import studies
from conftest import ROOT

#: Pages for those who meet Cellyard for the first time.
NEWCOMERS = ("cells", "five-tcps", "trust", "fit", "looks-wrong", "examples", "lecture")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    if page.exists()
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_python_in_the_documentation_runs(block: str, tmp_path: Path) -> None:
    before = Path.cwd()
    os.chdir(tmp_path)
    # In a file, so that `cellyard.policy` finds the source of functions.
    file = tmp_path / "documentation.py"
    file.write_text(block, encoding="utf-8")
    try:
        exec(compile(block, file, "exec"), {"__name__": "documentation"})
    finally:
        os.chdir(before)


def test_the_component_pages_have_every_parameter_and_choice() -> None:
    page = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "docs/components").glob("*.md"))
    for family in json.loads(_engine.registry())["families"]:
        for parameter in (p for c in family["components"] for p in c["parameters"]):
            assert f"| `{parameter['name']}` | {parameter['help']}" in page
            for choice in parameter["kind"].get("choices", ()):
                assert f"* `{choice['name']}`: {choice['help']}" in page
        assert all(f"| *any name* | {c['own']['help']}" in page for c in family["components"] if c["own"])


def test_the_page_of_examples_has_each_one_with_its_picture() -> None:
    page = (ROOT / "docs/examples.md").read_text(encoding="utf-8")
    found = re.findall(r"^\* \[?!\[(.*?)\]\(figures/network-.*?\.svg\).*? `\1`: ", page, re.M)
    assert sorted(found) == sorted([*cy.examples.names(), *experiments.names()])


def test_a_picture_of_a_network_names_the_buffer_in_its_unit() -> None:
    lines = {}
    for path in (ROOT / "docs/figures").glob("network-*.svg"):
        (line,) = re.findall(r">bottleneck: (.*?)<", path.read_text(encoding="utf-8")) or [""]
        assert re.fullmatch(r"|[\d.]+ [MG]b/s, [\d.]+ [um]s(, \d+ (cells|packets|bytes|memory cells))?", line), (
            path.name,
            line,
        )
        lines[path.stem.removeprefix("network-")] = line
    # 250 ms of 10 Mb/s.
    assert lines["home-line"] == "10 Mb/s, 5 ms, 312500 bytes" and lines["incast"] == "10 Gb/s, 1 us, 16 packets"


def test_the_sidebar_dates_each_study_as_its_citation_does() -> None:
    page = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    dates = {name: str(study.info["citation"]["year"]) for name, study in studies().items()}
    assert {name: year for year, name in re.findall(r"\((\d{4})\) <published/(.*)>", page)} == dates


@pytest.mark.parametrize("page", sorted((ROOT / "docs/gallery").glob("[!i]*.md")), ids=lambda page: page.stem)
def test_a_page_of_the_gallery_begins_with_its_answer_and_its_code_fits_80_columns(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    before, *cells = re.split(r"^```\{code-cell\}.*\n", text, flags=re.M)
    assert "**Answer.** " in before
    assert max(len(line) for cell in cells for line in cell.partition("\n```")[0].splitlines()) <= 80


def test_new_pages_and_the_front_page_keep_to_900_words() -> None:
    for page in ("README", *(f"docs/{name}" for name in NEWCOMERS)):
        assert len((ROOT / f"{page}.md").read_text(encoding="utf-8").split()) <= 900, page


def test_what_the_page_on_fit_calls_missing_is_missing_and_the_five_tcps_are_all() -> None:
    families = {family["name"]: family for family in json.loads(_engine.registry())["families"]}
    names = {c["name"] for family in families.values() for c in family["components"]}
    parameters = [p for family in families.values() for c in family["components"] for p in c["parameters"]]
    names |= {p["name"] for p in parameters} | {c["name"] for p in parameters for c in p["kind"].get("choices", ())}
    words = {word for name in names for word in re.split("[-_]", name)}
    fit = (ROOT / "docs/fit.md").read_text(encoding="utf-8")
    missing = ("CUBIC", "BBR", "ECN", "DCTCP", "RACK", "pacing", "Nagle", "keep-alive", "DSCP", "pause", "ECMP")
    for word in missing:
        assert word in fit and word.lower() not in words, word
    assert {"lose_frames", "lose_probability", "processing", "route", "file_size"} <= names
    (recovery,) = (p for p in parameters if p["name"] == "recovery")
    page = (ROOT / "docs/five-tcps.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| \d{4} ", page, re.M)
    assert rows == [choice["name"] for choice in recovery["kind"]["choices"]]


def test_the_index_of_components_leads_to_every_entry() -> None:
    index = (ROOT / "docs/components.md").read_text(encoding="utf-8")
    for family in json.loads(_engine.registry())["families"]:
        for component in family["components"]:
            name = component["name"] if family["tag"] else family["name"]
            links = re.findall(rf"\[`{name}`\]\((components/\w+\.md)#?([\w-]*)\)", index)
            assert links
            for file, anchor in links:
                titles = re.findall(r"^#+ (.*)", (ROOT / "docs" / file).read_text(encoding="utf-8"), re.M)
                assert not anchor or titles.count(anchor) == 1, f"{file}#{anchor}"


#: Most words, as `wc -w` counts them, of pages that grow by repeating themselves.
WORDS = {"model.md": 13_240, "components*": 12_300, "results.md": 5_500}


@pytest.mark.parametrize("pages", WORDS)
def test_a_reference_page_has_no_more_words_than_it_needs(pages: str) -> None:
    files = [file for path in (ROOT / "docs").glob(pages) for file in (path.glob("*.md") if path.is_dir() else [path])]
    assert 0 < sum(len(file.read_text(encoding="utf-8").split()) for file in files) <= WORDS[pages]


def test_generated_files_are_fresh() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts/generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
