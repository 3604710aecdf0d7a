"""The explorer page: its parts in node, its server, and all of it in a browser."""

import http.client
import json
import re
import shlex
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from cellyard import Scenario
from cellyard.commands.explore import Server, explorer_of, handler
from cellyard.errors import ScenarioError
from cellyard.plot import COLOURS
from cellyard.show import explorer
from conftest import ROOT, Cli

HERE = Path(__file__).parent / "explorer"
NODE, CHROMIUM = shutil.which("node"), shutil.which("chromium")
LAN = ROOT / "examples/lan-5.toml"

needs_engine = pytest.mark.skipif(
    not (explorer.FOLDER / "engine.wasm").exists(), reason="the explorer is not built: make explorer"
)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_parts_of_the_page() -> None:
    done = subprocess.run([str(NODE), "--test", HERE], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@contextmanager
def served(kind: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    with Server(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


@needs_engine
def test_the_server_has_its_files_and_nothing_else() -> None:
    with served(handler(explorer_of(None).files())) as port:

        def status(path: str, method: str = "GET", host: str | None = None) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request(method, path, headers={"Host": host} if host else {})
            return connection.getresponse().status

        assert status("/") == status("/index.html") == status("/engine.wasm") == status("/", "HEAD") == 200
        outside = ("/../show/explorer.py", "/..%2f..%2fetc/passwd", "//etc/passwd", "/engine.wasm/", "/nothing")
        assert {status(path) for path in outside} == {404}
        assert {status("/", host=host) for host in ("example.org", f"127.0.0.1.example.org:{port}", "0.0.0.0:80")} == {
            421
        }
        assert {status("/", method) for method in ("POST", "PUT", "DELETE", "OPTIONS")} == {501}


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *((host, 200) for host in ("127.0.0.1", "localhost", "LocalHost:80", "127.0.0.1:8777", "localhost:65535")),
        *(
            (host, 421)
            for host in ("", "127.0.0.1:80.evil.com", "localhost:", "localhost.evil.com:80", "[::1]:80", "x@localhost")
        ),
    ],
)
def test_any_port_of_this_machine_is_served_and_no_other_name(host: str, expected: int) -> None:
    with served(handler({"index.html": b"page"})) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/", headers={"Host": host})
        assert connection.getresponse().status == expected


def test_a_connection_on_which_nothing_moves_ends() -> None:
    kind = handler({"index.html": b"page"})
    assert kind.timeout == 30
    kind.timeout = 0.2
    with served(kind) as port:
        for sent in (b"", b"GET / HTTP/1.1\r\nHost: loc"):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                connection.sendall(sent)
                assert connection.recv(1) == b""
        # A reader that stops reading does not keep a thread either.
    large = handler({"index.html": bytes(50_000_000)})
    large.timeout = 0.2
    with served(large) as port, socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(1) == b"H"
        deadline = time.monotonic() + 20
        while any("process_request_thread" in thread.name for thread in threading.enumerate()):
            assert time.monotonic() < deadline
            time.sleep(0.05)


@needs_engine
def test_a_page_is_one_file_and_says_its_policy(cli: Cli, tmp_path: Path) -> None:
    done = cli("explore", LAN, "--save", tmp_path / "page.html")
    assert done.stdout == f"wrote {tmp_path / 'page.html'}\n"
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(text) < 2_000_000 and "import {" not in text and "default-src 'none'" in text
    assert not any(f'src="{name}"' in text or f'href="{name}"' in text for name in explorer_of(None).files())
    assert '"opened": "lan-5"' in text
    cli("explore", LAN, "--save", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text


@needs_engine
def test_a_notebook_shows_a_scenario_in_a_frame() -> None:
    shown = Scenario.read(LAN).explore()._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts allow-downloads"') and "</iframe>" in shown
    changed = Scenario.read(LAN, overrides={"duration": "1 s"}).explore()
    assert 'duration = "1 s"' in changed.scenarios["lan-5"]


@needs_engine
def test_errors_of_the_explorer_are_reported(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("duration = 1\n")
    told = cli.refused("explore", "bad.toml")
    assert "bad.toml:1" in told
    assert cli("explore", "none.toml").returncode != 0
    with served(handler({})) as port:
        taken = cli("explore", "--port", port, "--no-browser")
    assert taken.returncode == 2 and f"--port {port}" in taken.stderr
    with pytest.raises(ScenarioError):
        explorer_of(tmp_path / "bad.toml")


def test_without_its_engine_the_explorer_says_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(explorer, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="make explorer"):
        explorer.Explorer({})


@needs_engine
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    results: Queue[dict[str, Any]] = Queue()
    files = {**explorer_of(None).files(), "drive.html": (HERE / "drive.html").read_bytes()}

    class Drive(handler(files)):  # type: ignore[misc]
        def do_POST(self) -> None:  # noqa: N802
            results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

    with served(Drive) as port:
        options = shlex.split(
            f"--headless --no-sandbox --disable-gpu --enable-logging=stderr --user-data-dir={tmp_path}"
        )
        log = tmp_path / "log"
        with (
            log.open("w") as errors,
            subprocess.Popen(
                [str(CHROMIUM), *options, f"http://127.0.0.1:{port}/drive.html"], stderr=errors
            ) as browser,
        ):
            try:
                found = results.get(timeout=180)
            finally:
                browser.kill()
    assert found["errors"] == [] and found["first_ms"] > 0
    assert len(found["moves_ms"]) == 40 and list(found["set"]) == [
        "duration",
        "switch.0.ubr.drop",
        "switch.0.ubr.buffer",
    ]
    assert found["halved"] == pytest.approx(0.5) and found["back"] == pytest.approx(1)
    assert found["focus"] and found["columns"] > 10 and found["tabbable"] and found["same"]
    # About 10 ms of cells, each of 52 bytes, plus more bytes for dropped cells.
    assert all(begin == 0x0A0D0D0A and 150_000 < size < 600_000 for size, begin in found["captures"])
    assert found["violations"] == 1 and not found["intruded"] and found["images"] == 0
    assert found["labels"] and not any("cell" in label for label in found["labels"])
    # 38 + 40 + 512 bytes at 155.52 Mb/s.
    assert found["apart_ns"] == round(590 * 8 / 0.15552)
    assert found["kept"]
    assert found["program"][0].startswith("X > K - ") and found["shorter"] < found["program"][1]
    wrong, line, caret = found["mistake"].splitlines()[:3]
    assert "switch[1].ubr.drop.refuse" in wrong and line.strip() == "X > K and Y >" and caret.strip() == "^"
    assert "Allowed: " in found["hint"] and found["stopped"].endswith("was restarted: it panicked")
    assert len(found["stories"]) == 9 and all(problems == [] for _, problems in found["stories"])
    assert any(note.startswith("note on A: efficiency is up to ") for note in found["notes"])
    messages = [
        line for line in log.read_text().splitlines() if "CONSOLE" in line and "Content Security Policy" not in line
    ]
    assert messages == []


def test_vcs_have_the_colours_of_all_other_figures() -> None:
    (listed,) = re.findall(
        r"^const LIGHT = \[(.*)\];$", (explorer.FOLDER / "theme.js").read_text(encoding="utf-8"), re.M
    )
    colours = [colour.strip("' ").upper() for colour in listed.split(",")]
    assert colours[:6] == list(COLOURS[:6]) and len(set(colours)) == len(colours)
