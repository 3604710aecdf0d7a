"""Examples in the documentation run as written."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cellyard import _engine
from conftest import ROOT

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
WORDS = {"model.md": 11_000, "components*": 12_300, "results.md": 4_720}


@pytest.mark.parametrize("pages", WORDS)
def test_a_reference_page_has_no_more_words_than_it_needs(pages: str) -> None:
    files = [file for path in (ROOT / "docs").glob(pages) for file in (path.glob("*.md") if path.is_dir() else [path])]
    assert 0 < sum(len(file.read_text(encoding="utf-8").split()) for file in files) <= WORDS[pages]


def test_generated_files_are_fresh() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts/generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
