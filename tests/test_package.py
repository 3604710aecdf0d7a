"""The package can be installed with everything that the documentation uses."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import cellyard as cy
import front_page
import paths
import pytest
from cellyard import _engine
from cellyard.show import explorer
from cellyard.system import interface
from conftest import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY: str = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]


def test_all_is_every_other_extra_for_users() -> None:
    extras: dict[str, list[str]] = dict(PROJECT["optional-dependencies"])
    every = extras.pop("all")
    del extras["dev"]
    assert sorted(every) == sorted(one for extra in extras.values() for one in extra)


def test_a_hint_about_a_missing_package_names_one_of_an_extra() -> None:
    listed = {re.split(r"[<>=]", one)[0] for one in PROJECT["optional-dependencies"]["all"]}
    hints = set()
    for path in sorted((ROOT / "python/cellyard").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"cellyard\[[a-z]", text), path
        hints |= set(re.findall(r"pip install ([\w-]+)", text))
    assert hints == {"distributed", "matplotlib", "scipy"} <= listed


def test_links_of_the_front_page_are_relative_and_exist() -> None:
    # That their headings exist, tests/test_docs_commands.py checks.
    text = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M | re.S)
    links = re.findall(r"\]\(([^)\s]*)", text)
    assert len(links) > 20 and "<img" not in text and "<a " not in text
    page = f"{REPOSITORY}/releases/latest/download/explore.html"  # attached by .github/workflows/release.yml
    assert [link for link in links if link.startswith(REPOSITORY)] == [page]
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert 'explore --save explore.html\n          gh release create "$GITHUB_REF_NAME" explore.html' in workflow
    for link in links:
        assert link == page or link.startswith("#") or (ROOT / link.partition("#")[0]).exists(), link


def test_the_front_page_for_an_index_has_links_to_the_tag_of_the_version() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    made = front_page.for_index(text)
    before, after = (re.findall(r"(!?)\[[^]]*\]\(([^)\s]*)", page) for page in (text, made))
    expected = [
        link if link.startswith(("#", "https:")) else f"{REPOSITORY}/{'raw' if picture else 'blob'}/v{version}/{link}"
        for picture, link in before
    ]
    assert [link for _, link in after] == expected and {picture for picture, _ in before} == {"", "!"}
    assert front_page.for_index(made) == made
    # Nothing else changes.
    assert re.sub(rf"{REPOSITORY}/(raw|blob)/v{version}/", "", made) == text


def test_what_is_built_has_metadata_with_links_for_an_index(tmp_path: Path) -> None:
    metadata, linked = "Name: a\n\n[b](docs/b.md)\n", f"Name: a\n\n[b]({REPOSITORY}/blob/v"
    wheel, archive = tmp_path / "a.whl", tmp_path / "a-1.tar.gz"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("a.dist-info/METADATA", metadata)
        packed.writestr("a.dist-info/RECORD", "a.dist-info/METADATA,sha256=y,9\n")
    paths.clean(wheel)
    with zipfile.ZipFile(wheel) as packed:
        content = packed.read("a.dist-info/METADATA")
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert content.decode().startswith(linked)
        assert packed.read("a.dist-info/RECORD").decode() == f"a.dist-info/METADATA,sha256={digest},{len(content)}\n"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("a-1/PKG-INFO", "a-1/README.md", "a-1/x/PKG-INFO"):
            info = tarfile.TarInfo(name)
            info.size = len(metadata)
            tar.addfile(info, io.BytesIO(metadata.encode()))
    paths.clean_sdist(archive)
    with tarfile.open(archive) as tar:
        found = {name: reader.read().decode() for name in tar.getnames() if (reader := tar.extractfile(name))}
    assert found.pop("a-1/PKG-INFO").startswith(linked)
    assert found == {"a-1/README.md": metadata, "a-1/x/PKG-INFO": metadata}


def test_addresses_are_those_of_the_repository() -> None:
    assert PROJECT["urls"] and all(url.startswith(REPOSITORY) for url in PROJECT["urls"].values())
    cited = re.search(r"^repository-code: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited and cited[1] == REPOSITORY
    about = (ROOT / "conda-recipe/recipe.yaml").read_text(encoding="utf-8").partition("\nabout:\n")[2]
    urls = re.findall(r"https://\S+", about)
    assert len(urls) == 3 and all(url.startswith(REPOSITORY) for url in urls)


def test_the_conda_recipe_has_the_version_and_the_requirements_of_the_package() -> None:
    recipe = (ROOT / "conda-recipe/recipe.yaml").read_text(encoding="utf-8")
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert f'version: "{version}"' in recipe
    #: Packages with another name in conda.
    names = {"matplotlib": "matplotlib-base", "duckdb": "python-duckdb"}
    section = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    listed = set(re.findall(r"- (\S+ >=\S+)", section))
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["all"]]
    stated = {f"{names.get(name, name)} >={least}" for name, _, least in (one.partition(">=") for one in wanted)}
    assert listed == stated | {f"python {PROJECT['requires-python']}"}


def test_actions_of_workflows_are_pinned_by_hash() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")]
    used = re.findall(r"uses: (.*)", "".join(texts))
    assert len(texts) > 2 and all("permissions:\n  contents: read\n" in text for text in texts)
    assert used and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", one) for one in used)


def test_nothing_that_is_built_names_a_folder_of_this_machine() -> None:
    built = [Path(str(_engine.__file__)), *explorer.FOLDER.glob("*.wasm")]
    folders = [f"{folder}{os.sep}".encode() for folder in paths.prefixes()]
    naming = [path.name for path in built if any(folder in path.read_bytes() for folder in folders)]
    assert naming == [], "run `make build`: only the build backend keeps these folders out"


def test_the_compiler_is_told_what_to_name_instead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.endswith("RUSTFLAGS")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    mine = "CARGO_TARGET_A_B_RUSTFLAGS"
    monkeypatch.setenv(mine, "-Cprofile-use=x")
    flags = paths.variables("a-b")[mine].split()
    assert flags[0] == "-Cprofile-use=x" and f"--remap-path-prefix={tmp_path}=cargo" in flags
    # Other variables hide that of a target.
    monkeypatch.setenv("RUSTFLAGS", "-Cdebuginfo=1")
    assert list(paths.variables("a-b", "c")) == ["RUSTFLAGS"]
    monkeypatch.setenv("CARGO_ENCODED_RUSTFLAGS", "-C\x1fopt-level=1")
    (encoded,) = paths.variables("a-b").values()
    assert encoded.split("\x1f")[:2] == ["-C", "opt-level=1"]
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "Jane Doe"))
    assert "Jane" not in paths.variables("a-b").popitem()[1]


def test_the_list_of_crates_in_a_wheel_names_no_folder(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    place, record = "a.dist-info/sboms/a.cyclonedx.json", "a.dist-info/RECORD"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("a.py", "x = 1")
        packed.writestr(place, f'"path+{ROOT.as_uri()}/crates/engine#1"')
        packed.writestr(record, f"a.py,sha256=x,5\n{place},sha256=y,9\n{record},,\n")
    paths.clean(wheel)
    with zipfile.ZipFile(wheel) as packed:
        assert packed.namelist() == ["a.py", place, record] and packed.read("a.py") == b"x = 1"
        content = packed.read(place)
        assert content == b'"path+file:///cellyard/crates/engine#1"'
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert packed.read(record).decode() == f"a.py,sha256=x,5\n{place},sha256={digest},{len(content)}\n{record},,\n"


def test_an_engine_with_another_interface_is_one_line() -> None:
    """The command line, and `import cellyard._engine`."""
    code = (
        "import sys; from cellyard.system import interface; interface.INTERFACE = 0; sys.argv = ['cellyard', 'components']\n"
        "from cellyard.__main__ import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    expected = "the compiled engine is of another version than this package; run `make build`\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


def test_a_changed_interface_has_a_new_number() -> None:
    """If this fails, count INTERFACE up in `system/interface.py` and `crates/python/src/lib.rs`, and store the new digest."""
    functions = re.findall(r"^ *def .*?: \.\.\.$", (ROOT / "python/cellyard/_engine.pyi").read_text(), re.M | re.S)
    fields: set[str] = set(re.findall(r'"(\w+)": ?\{', _engine.results_schema()))
    network = cy.examples.scenario("lan-5").canonical
    for document in (_engine.outline(network), _engine.describe(network)):
        fields |= set(re.findall(r'"(\w+)":', document))
    digest = hashlib.sha256("\n".join([*functions, *sorted(fields)]).encode()).hexdigest()[:8]
    assert (interface.INTERFACE, digest) == (6, "83244dba")
