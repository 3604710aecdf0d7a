"""The explorer as it looks and works, in a browser: on a desk and on a phone, light and dark, of five networks.

The folder that the variable CELLYARD_SHOTS names keeps the pictures, to be looked at.
"""

import json
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from browser import CHROMIUM, Browser
from cellyard import Scenario
from cellyard.commands.explore import Server, explorer_of, handler
from cellyard.results.transfers import QUANTILES, pooled
from cellyard.scenario import examples
from cellyard.show import explorer
from cellyard.statistics.bounded import Bounded, field_value
from cellyard.statistics.ranges import interval
from conftest import ROOT

pytestmark = [
    pytest.mark.skipif(
        not (explorer.FOLDER / "engine.wasm").exists(), reason="the explorer is not built: make explorer"
    ),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

#: Folder where `.ci/run` installs axe-core, which finds barriers for readers with disabilities.
AXE = ROOT / ".venv/axe/node_modules/axe-core/axe.min.js"

#: Many senders into one port, in a user's file.
INCAST = """name = "incast64"
duration = "2 s"
format = "ethernet"
host = [{ name = "sender", count = 64 }, { name = "receiver" }]
switch = [{ name = "tor", ubr = { buffer = "170 cells" } }]
link = [
    { from = "sender", to = "tor", rate = "10 Gbps", delay = "5 us" },
    { from = "tor", to = "receiver", rate = "10 Gbps", delay = "5 us" },
]
[[vc]]
from = "sender"
to = "receiver"
traffic = { kind = "tcp", recovery = "sack", mss = "1460 bytes", file_size = "256 kB", min_rto = "200 ms" }
"""
NETWORKS = {name: name for name in ("lan-5", "two-hops", "leaf-spine", "incast-shared")} | {"incast64": INCAST}

#: Everything that lies outside its parent or the page, touches another text, or is too small to be read.
FAULTS = """(() => {
  const found = [];
  const box = (one) => one.getBoundingClientRect();
  const name = (one) => `${one.tagName} ${one.id} ${(one.textContent || one.getAttribute('aria-label') || '').slice(0, 30)}`;
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth} wide`);
  const visible = [...document.body.querySelectorAll('*')].filter((one) => one.checkVisibility() && box(one).width);
  for (const one of visible) {
    if (one.closest('.scroll, svg, select, #files')) continue;
    const [inner, outer] = [box(one), box(one.parentElement)];
    if (inner.left < outer.left - 1 || inner.right > outer.right + 1) found.push(`outside: ${name(one)}`);
    if (parseFloat(getComputedStyle(one).fontSize) < 9) found.push(`small: ${name(one)}`);
  }
  const pen = document.createElement('canvas').getContext('2d');
  for (const one of visible.filter(({ localName }) => localName === 'select')) {
    const style = getComputedStyle(one);
    pen.font = style.font;
    const text = one.selectedOptions[0]?.textContent ?? '';
    const room = one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (pen.measureText(text).width > room + 1) found.push(`clipped: ${text}`);
  }
  const touch = (a, b, room) => a.left < b.right - room && b.left < a.right - room && a.top < b.bottom - room && b.top < a.bottom - room;
  const apart = (boxes, what) => boxes.forEach(([a, text], i) => {
    for (const [b, other] of boxes.slice(i + 1)) if (touch(a, b, 1)) found.push(`${what}: ${text} on ${other}`);
  });
  const svg = box(document.querySelector('#network'));
  const parts = [...document.querySelectorAll('#network text, #network .port')].map((one) => [box(one), name(one)]);
  apart(parts, 'network');
  for (const [one, text] of parts) {
    if (one.left < svg.left || one.right > svg.right || one.top < svg.top || one.bottom > svg.bottom) found.push(`cut: ${text}`);
  }
  for (const canvas of document.querySelectorAll('canvas')) {
    if (!canvas.checkVisibility()) continue;
    const texts = canvas.texts.map(({ text, left, width, y }) => [{ left, right: left + width, top: y - 9, bottom: y + 2 }, text]);
    apart(texts, canvas.getAttribute('aria-label'));
    for (const [one, text] of texts) if (one.left < 0 || one.right > box(canvas).width + 1) found.push(`cut: ${text}`);
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Browser, str]]:
    """A browser, and the address of an explorer that has opened a user's file."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.toml").write_text(INCAST)
    files = explorer_of(folder / "mine.toml").files()
    with Server(("127.0.0.1", 0), handler(files)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with Browser(tmp_path_factory.mktemp("browser")) as browser:
                yield browser, f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def link(base: str, a: dict[str, str] | None = None, b: dict[str, str] | None = None, **more: Any) -> str:
    sides = [{"base": base, "set": a or {}}, {"base": base, "set": b or {}}]
    return "#" + quote(json.dumps({"sides": sides, "both": True, **more}))


#: Texts of the rows of numbers, without the names of their groups.
ROWS = """$$('#compared tbody tr').filter((one) => one.children.length > 1)
  .map((one) => [...one.children].map((cell) => cell.textContent))"""

#: Shorthands of the scripts below.
HELPERS = """
window.$ = (selector) => document.querySelector(selector);
window.$$ = (selector) => [...document.querySelectorAll(selector)];
window.$menu = (text) => $$('#files button').filter((one) => one.textContent === text);
window.$total = (side) => side.picture.series.find((one) => one.what === 'queue' && !one.vc);
window.copied = null;
navigator.clipboard.writeText = async (text) => { window.copied = text; };
0"""


def show(browser: Browser, address: str) -> None:
    """Open a page and wait for its first pictures."""
    browser.open(address)
    ready(browser)
    browser.value(HELPERS)


def ready(browser: Browser) -> None:
    browser.until("window.explorer?.shown.every((side) => side.read && !side.old && !side.runner.busy)")


@pytest.mark.parametrize("name", NETWORKS)
def test_nothing_is_cut_and_no_labels_touch(page: tuple[Browser, str], name: str, tmp_path: Path) -> None:
    browser, address = page
    shots = Path(os.environ.get("CELLYARD_SHOTS", tmp_path))
    shots.mkdir(exist_ok=True)
    for scheme in ("light", "dark"):
        browser.size(1400, 900, scheme)
        show(browser, address + link(NETWORKS[name]))
        for width, height in ((1400, 900), (900, 900), (390, 844)):
            browser.size(width, height, scheme)
            time.sleep(0.3)
            ready(browser)
            assert browser.value(FAULTS) == [], (width, scheme)
            boxes = "[explorer.sides[0].figures.queue, $('#panel'), $('main')].map((one) => one.getBoundingClientRect().toJSON())"
            queue, panel, main = browser.value(boxes)
            if width > 760:
                # The queue is on the first screen, alongside the knobs, which take a third at most.
                assert queue["bottom"] < height and queue["right"] < panel["left"]
                assert panel["width"] <= main["width"] / 3
            else:
                assert queue["top"] < height and queue["bottom"] < panel["top"]
            browser.picture(shots / f"{name}-{width}-{scheme}.png", whole=False)
        browser.value("$$('details').forEach((one) => { one.open = true; })")
        assert browser.value(FAULTS) == [], scheme
        if AXE.exists():
            browser.size(1400, 900, scheme)
            browser.value(AXE.read_text(encoding="utf-8") + ";0")
            violations = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"
            assert browser.value(violations) == []
    assert browser.errors == []


@pytest.mark.parametrize("name", NETWORKS)
def test_every_port_where_cells_wait_can_be_chosen(page: tuple[Browser, str], name: str) -> None:
    browser, address = page
    browser.size(900, 900, "light")
    show(browser, address + link(NETWORKS[name], {"duration": "1 ms", "measure.warm_up": "0 s"}, both=False))
    described = "explorer.sides[0].read.description.ports.filter((port) => port.can_queue).map((port) => port.name)"
    ports = browser.value(described)
    assert sorted(browser.value("$$('#port option').map((one) => one.value)")) == sorted(ports)
    for port in (ports[0], ports[-1]):
        browser.value(f"$('#port').value = '{port}'; $('#port').dispatchEvent(new Event('change'))")
        ready(browser)
        assert browser.value("explorer.sides[0].read.port") == port
    marks = browser.value("$$('.port').length")
    assert marks >= 2
    for mark in range(marks):
        browser.value(f"$$('.port')[{mark}].dispatchEvent(new MouseEvent('click'))")
        ready(browser)
        label, port = browser.value("[$('.port.chosen').getAttribute('aria-label'), $('#port').value]")
        assert label.startswith(f"port {port}")
        assert browser.value("$$('.port').findIndex((one) => one.matches('.chosen'))") == mark


def test_a_network_without_a_switch_shows_its_windows_and_numbers(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address + link("lossy-link"))
    assert browser.value("$('#port').textContent") == "none: there is no switch"
    shown = "$$('figure').filter((one) => one.checkVisibility()).length"
    assert browser.value("$('#problems').textContent") == "" and browser.value(shown) == 2
    assert browser.value("[$('#after').disabled, $$('#compared tbody').length]") == [True, 1]
    browser.value("$('#draws').click()")
    browser.until("$('#compared small')")


def test_one_variant_alone_leaves_no_room_for_the_other(page: tuple[Browser, str]) -> None:
    browser, address = page
    shown = "$$('figure').filter((one) => one.checkVisibility()).map((one) => one.querySelector('canvas').ariaLabel)"
    for network, kinds in (
        ("incast64", ["queue by VC", "congestion windows"]),
        ("incast-shared", ["queue by VC", "pool by port"]),
    ):
        changes = {"duration": "10 ms"} if network == "incast64" else {}
        show(browser, address + link(NETWORKS[network], changes, changes, both=False))
        assert browser.value(shown) == [f"{kind}, variant A" for kind in kinds]
        browser.value("$('#both').click()")
        ready(browser)
        assert browser.value(shown) == [f"{kind}, variant {side}" for kind in kinds for side in "AB"]
        browser.value("$('#both').click()")
        ready(browser)
        assert browser.value(shown) == [f"{kind}, variant A" for kind in kinds]


def test_a_pool_is_one_stack_of_its_queues_with_the_threshold(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address + link("incast-shared", both=False))
    stack = "explorer.sides[0].shares.map(({ of, mean }) => [of, [...mean]])"
    found = dict(browser.value(stack))
    assert list(found) == ["tor->receiver", "tor->busy"]  # the watched port is at the bottom
    pool, threshold = (
        browser.value(f"[...explorer.sides[0].picture.series.find(({{ what }}) => what === '{what}').mean]")
        for what in ("pool", "threshold")
    )
    for used, bound, *queues in zip(pool, threshold, *found.values(), strict=True):
        assert used == pytest.approx(sum(queues), abs=1e-3)
        assert bound == pytest.approx(1000 - used, abs=1e-3)  # alpha is 1, and nothing is reserved
    labels = browser.value("explorer.sides[0].pictures.pool.texts.map(({ text }) => text)")
    assert {"packets held (dashed: threshold)", "pool 1000"} <= set(labels)
    named = browser.value("$$('#ports button').map((one) => one.textContent)")
    assert sorted(named) == sorted(found)
    browser.value("$$('#ports button').find((one) => one.textContent === 'tor->busy').click()")
    ready(browser)
    assert browser.value("[explorer.sides[0].read.port, explorer.sides[0].shares[0].of]") == ["tor->busy"] * 2
    browser.value("$('#lists details').open = true")
    assert browser.value("$$('#lists caption').map((one) => one.textContent)")[:2] == ["By VC", "Of the pool, by port"]
    # A threshold that is far above all queues is not in the picture.
    show(browser, address + link("incast-shared", {"switch.0.pool.buffer": "100000 cells"}, both=False))
    labels = browser.value("explorer.sides[0].pictures.pool.texts.map(({ text }) => text)")
    assert "packets held (below the threshold)" in labels and not any("pool" in text for text in labels)


def test_faults_of_a_page_are_found(page: tuple[Browser, str]) -> None:
    browser, address = page
    browser.size(1400, 900, "light")
    show(browser, address + link("lan-5", {"duration": "0.1 s"}))
    for harm, fault in (
        ("$('#about').style.cssText = 'position: relative; left: 900px'", "outside: SPAN about"),
        ("$('#panel').style.width = '2000px'", "the page is"),
        ("$('#hint').style.fontSize = '8px'", "small: P hint"),
        ("$$('#network text').at(-1).setAttribute('y', $$('#network text').at(-2).getAttribute('y'))", "network: text"),
        ("$('#network text').setAttribute('x', -30)", "cut: text"),
        ("$('select').style.width = '50px'", "clipped: lan-5"),
        ("$('canvas').texts.push({ text: 'twice', left: 60, width: 40, y: 20 })", "queue by VC, variant A: "),
    ):
        browser.value(f"{harm}; 0")
        assert any(found.startswith(fault) for found in browser.value(FAULTS)), fault


def test_what_is_old_is_dimmed_and_not_compared(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address + link("lan-5", {"duration": "1 s"}, {"duration": "1 s"}))
    differences = "$$('#compared tbody td:last-child').filter((one) => one.textContent).length"
    old = "[...explorer.sides.map((side) => side.figures.queue), $('#compared')].map((one) => one.matches('.old'))"
    assert browser.value(differences) > 10
    found = browser.value(f"explorer.set(1, {{ paths: ['duration'] }}, '3 s'), [{old}, {differences}]")
    assert found == [[False, True, True], 0]
    ready(browser)
    assert browser.value(old) == [False] * 3 and browser.value(differences) > 10


def test_a_vc_has_one_colour_in_all_pictures(page: tuple[Browser, str]) -> None:
    browser, address = page
    fewer = {"duration": "50 ms", "switch.0.ubr.buffer": "30 cells"}
    show(browser, address + link(INCAST, {"duration": "50 ms"}, fewer))
    colours = browser.value("explorer.sides.map((side) => side.queues.map(({ vc, colour }) => [vc, colour]))")
    assert len(colours[0]) == 13 and sorted(colours[0]) == sorted(colours[1])
    legend = browser.value("$$('#legend button').map((one) => one.textContent)")
    assert set(legend) == {vc for vc, _ in colours[0]} - {"others"}


@pytest.mark.parametrize("duration", ["2 s", "0.1 s"])
def test_completion_times_are_those_of_the_results_or_bounds(page: tuple[Browser, str], duration: str) -> None:
    browser, address = page
    show(browser, address + link(INCAST, {"duration": duration}, both=False))
    run = Scenario.from_toml(INCAST, overrides={"duration": duration}).run().only
    rows = dict(browser.value(ROWS))
    assert rows["files finished"] == str(run.totals.finished_transfers) != "0"
    assert rows["files unfinished"] == str(run.totals.unfinished_transfers)
    bound = "> " if run.totals.unfinished_transfers else ""
    longest = run.totals.max_transfer_s or run.totals.max_transfer_s_above or 0
    assert rows["longest completion time"] == f"{bound}{1000 * longest:.4g} ms"
    assert rows["goodput while a file is under way, Mb/s"] == f"{run.totals.busy_goodput_mbps:.4g}"
    assert (rows["99th percentile of completion times"][:2] == "> ") == (run.totals.p99_transfer_s is None)


def test_numbers_are_in_groups_with_their_units_and_in_full(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address + link("leaf-spine", {}, {"link.0.rate": "5 Gbps"}))
    heads = browser.value("$$('#compared [scope=rowgroup]').map((one) => one.textContent)")
    assert heads == ["All VCs", "Port leaf1->spine1"]
    rows = {name: cells for name, *cells in browser.value(ROWS)}
    a, b = (
        explored.totals
        for explored in (
            examples.scenario("leaf-spine", overrides=[*changes, ("probe", "[]")]).run().only
            for changes in ([], [("link.0.rate", "5 Gbps")])
        )
    )
    assert a.efficiency and b.efficiency and a.goodput_mbps > 100_000
    assert rows["goodput, Mb/s"][0] == f"{a.goodput_mbps:.0f}"
    assert rows["efficiency"][2] == f"{100 * (b.efficiency - a.efficiency):.1f} points"
    # What neither variant has is left out, and a note says why.
    show(browser, address + link(INCAST))
    assert "efficiency" not in [name for name, *_ in browser.value(ROWS)]
    assert "no efficiency" in browser.value("$('#notes').textContent")


def test_a_default_is_shown_as_it_is_with_what_is_chosen(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address + link("lan-5", {"duration": "1 ms"}, {"duration": "1 ms", "vc.0.traffic.profile": "linux"}))
    shown = (
        "(path) => ['A', 'B'].map((side) => document.getElementById(`${side}-${path}`).selectedOptions[0].textContent)"
    )
    assert browser.value(f"({shown})('vc.0.traffic.estimator')") == ["bsd", "rfc6298"]
    assert browser.value(f"({shown})('vc.0.class')") == ["ubr", "ubr"]
    assert browser.value(f"({shown})('tie_order')") == ["rotating", "rotating"]
    assert browser.value(f"({shown})('switch.0.ubr.rest_of_frame')") == ["accept", "accept"]
    browser.value("explorer.set(0, { paths: ['vc.0.traffic.profile'] }, 'linux')")
    ready(browser)
    assert browser.value(f"({shown})('vc.0.traffic.estimator')") == ["rfc6298", "rfc6298"]
    # The name of the default stated is the default too.
    browser.value("explorer.set(0, { paths: ['vc.0.traffic.estimator'] }, 'rfc6298')")
    ready(browser)
    assert browser.value(f"({shown})('vc.0.traffic.estimator')") == ["rfc6298", "rfc6298"]
    browser.value("explorer.set(0, { paths: ['switch.0.ubr.drop'], component: true }, 'ppd')")
    browser.value("explorer.set(0, { paths: ['format'] }, 'ethernet')")
    browser.until(f"({shown})('tie_order')[0] === 'fair'")
    assert browser.value(f"({shown})('switch.0.ubr.rest_of_frame')") == ["drop-but-eom", "accept"]
    show(browser, address + link("lan-5", {"duration": "1 ms", "vc.0.traffic": '{ kind = "cbr", rate = "1 Mbps" }'}))
    assert browser.value(f"({shown})('vc.0.class')") == ["cbr", "ubr"]


def test_a_picture_of_another_width_is_drawn_again(page: tuple[Browser, str]) -> None:
    browser, address = page
    browser.size(1400, 900, "light")
    show(browser, address + link("lan-5", {"duration": "0.1 s"}, {"duration": "0.1 s"}))
    # No event says that a picture is narrower, as when a scroll bar comes.
    before = browser.value("explorer.sides[0].picture.view.n")
    browser.value("$('#first').style.width = '850px'")
    browser.until(f"explorer.sides.every(({{ picture }}) => picture.view.n < {before})")
    assert browser.value("explorer.sides.every((side) => side.picture.view.n === side.view().n)")
    assert browser.errors == []


def test_sentences_of_the_page_are_true_of_what_it_shows(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address + link("lan-5", both=False))
    said = browser.value("$('#say').textContent")
    found = re.fullmatch(r"Shown in intervals of 2.5 ms. Runs of up to about (.*) s show every change.", said)
    assert found
    for share, is_exact in ((0.9, True), (1.15, False)):
        show(browser, address + link("lan-5", {"duration": f"{share * float(found[1]):.3g} s"}, both=False))
        assert browser.value("$('#say').textContent === ''") == is_exact
    # A link names an example, and the command for a scenario of a link runs the saved file.
    browser.value("$menu('Copy link')[0].click()")
    browser.until("copied")
    assert "It holds the names of examples, the values set and" in browser.value("$('#say').textContent")
    assert browser.value("explorer.sides[0].command.textContent").startswith("cellyard example lan-5 > lan-5.toml\n")
    show(browser, address + link(INCAST.replace("64", "301"), {"duration": "1 ms"}, both=False))
    command = browser.value("explorer.sides[0].command.textContent")
    assert command == '# after "Save TOML" of A:\ncellyard run cellyard-A.toml'
    browser.value("explorer.zoom(0, 1e-6); $('#before').click()")
    browser.until("$('#say').textContent === 'There is no earlier drop of the first 300 VCs at tor->receiver.'")
    # Names are no knob.
    other = INCAST.replace('name = "incast64"', 'name = "other"')
    sides = [{"base": base, "set": {"duration": "1 ms"}} for base in (INCAST, other)]
    show(browser, address + "#" + quote(json.dumps({"sides": sides, "both": True})))
    assert browser.value("$$('figcaption')[1].textContent") == "B"
    show(browser, address + link(INCAST, {"duration": "1 ms"}, {"duration": "1 ms"}))
    assert browser.value("$$('figcaption')[1].textContent") == "B the same as A"


def in_all_draws(found: dict[str, Any], name: str) -> list[str]:
    """Return what the page says of a quantile of the files of all draws, and of its interval."""

    def text(name: str) -> str:
        value = field_value(found.get, name)
        seconds, bound = (value.low, "> ") if isinstance(value, Bounded) else (value, "")
        return bound + (f"{seconds:.4g} s" if seconds >= 1 else f"{1000 * seconds:.4g} ms")

    shown = [f"all draws: {text(name)}"]
    if name == "max_transfer_s":
        return shown
    low = text(f"{name}_low")
    if found[f"{name}_high"] is None:
        return [*shown, low if low[0] == ">" else f"> {low}"]
    high = text(f"{name}_high")
    return [*shown, f"{low.removesuffix(' ms') if high.endswith(' ms') else low} to {high}"]


@pytest.mark.parametrize("duration", ["2 s", "0.1 s"])
def test_files_of_twenty_draws_are_pooled_as_replications_are(page: tuple[Browser, str], duration: str) -> None:
    browser, address = page
    show(browser, address + link(INCAST, {"duration": duration}, both=False))
    browser.value("$('#draws').click()")
    browser.until("explorer.draws.results")
    found = pooled(
        [run.data for run in Scenario.from_toml(INCAST, overrides={"duration": duration}).run(replications=20)]
    )
    assert found is not None and bool(found["unfinished_transfers"]) == (duration == "0.1 s")
    row = "[one.cells[0].textContent, [...one.querySelectorAll('small')].map((one) => one.textContent)]"
    script = f"Object.fromEntries($$('#compared tbody tr').map((one) => {row}))"
    said = browser.value(script)
    names = ("median completion time", "95th percentile of completion times", "99th percentile of completion times")
    for name, row in zip(QUANTILES, (*names, "longest completion time"), strict=True):
        assert said[row] == in_all_draws(found, name)
    assert said["files finished"] == [f"all draws: {found['finished_transfers']}"]
    assert said["files unfinished"] == [f"all draws: {found['unfinished_transfers']}"]
    # Draws that are stopped early are fewer: the first ones that have finished.
    for count, few in ((7, False), (3, True)):
        browser.value(f"explorer.draws.found = explorer.draws.found.map((of) => of.slice(0, {count}))")
        browser.value("explorer.draws.keep(); explorer.number()")
        assert browser.value("$('#compared thead').textContent").endswith(f"{count} draws")
        caption = browser.value("$('#compared caption').textContent")
        assert f"the range of {count} draws; for" in caption
        assert "by up to 0.1 ms (ensemble.start_jitter); the run shown does not." in caption
        assert (browser.value(script)[names[0]][1] == "interval from 6 draws on") == few


def test_drops_and_bursts_are_found(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address + link(INCAST))
    browser.value("$('#after').click()")
    browser.until("$('#why').textContent")
    assert "reason full; queue X = 170, of its VC Y_i = " in browser.value("$('#why').textContent")
    first = browser.value("explorer.found")
    browser.value("$('#after').click()")
    browser.until(f"explorer.found > {first}")
    browser.value("$('#before').click()")
    browser.until(f"explorer.found === {first}")
    browser.value("$('#before').click()")
    browser.until("$('#say').textContent === 'There is no earlier drop at tor->receiver.'")
    browser.value("$('#all').click()")
    ready(browser)
    browser.value("$('#fit').click()")
    browser.until("explorer.view.to - explorer.view.from < 0.1")
    ready(browser)
    assert browser.value("$total(explorer.sides[0]).hi.filter((value) => value > 0).length") > 200


def test_a_link_holds_the_scenario_itself(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address)
    assert browser.value("explorer.state.sides[0].base") == "mine"
    browser.value("$menu('Copy link')[0].click()")
    browser.until("copied")
    copied = browser.value("copied")
    said = browser.value("$('#say').textContent")
    assert said.startswith("Link copied. It holds both scenarios") and "Its address is on this computer" in said
    # A page that does not have the file shows the same.
    with Server(("127.0.0.1", 0), handler(explorer_of(None).files())) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        show(browser, f"http://127.0.0.1:{other.server_port}/#{copied.partition('#')[2]}")
        assert browser.value("explorer.sides[0].read.scenario.name") == "incast64"
        other.shutdown()
    long = json.dumps("# " + "x" * 9000 + "\n" + INCAST)
    show(browser, address)
    browser.value(f"explorer.state.sides[0] = {{ base: {long}, set: {{}} }}; $menu('Copy link')[0].click()")
    assert "A link cannot hold these scenarios, so none was copied" in browser.value("$('#say').textContent")
    assert browser.value("copied") is None


def test_pictures_are_saved_with_both_variants(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(
        browser, address + link("lan-5", {"duration": "0.2 s"}, {"duration": "0.2 s", "switch.0.ubr.drop": "tail-drop"})
    )
    browser.value("window.blobs = []; URL.createObjectURL = (blob) => (blobs.push(blob), 'data:,')")
    browser.value("$menu('Save SVG')[0].click(); $menu('Save PNG')[0].click()")
    browser.until("blobs.length === 2")
    svg, png = browser.value(
        "Promise.all([blobs[0].text(), createImageBitmap(blobs[1]).then(({ width, height }) => [width, height])])"
    )
    root = ElementTree.fromstring(svg)
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("A drop policy of west: epd") == texts.count("B drop policy of west: tail-drop") == 2
    assert png == [int(root.attrib["width"]), int(root.attrib["height"])]


def test_a_saved_page_works_from_a_disk(page: tuple[Browser, str], tmp_path: Path) -> None:
    browser, _ = page
    (tmp_path / "page.html").write_text(explorer_of(None).page())
    show(browser, f"file://{tmp_path}/page.html#story=fair-share")
    assert browser.value("$('#told h2').textContent") == "Who gets the buffer"
    assert browser.value("explorer.shown.map((side) => side.result.vcs.length)") == [5, 5]
    assert browser.value("getComputedStyle($('#told')).borderLeftWidth") == "4px"
    browser.value("$('#draws').click()")
    browser.until("$('#compared small')")
    assert browser.errors == []


def test_the_toml_of_each_variant_can_be_copied(page: tuple[Browser, str]) -> None:
    browser, address = page
    show(browser, address + link("lan-5", {"duration": "1 ms"}, {"duration": "2 ms"}))
    for place in range(2):
        browser.value(f"$menu('Copy TOML')[{place}].click()")
        browser.until(f"copied.includes('duration = \"{place + 1} ms\"')")
        assert Scenario.from_toml(browser.value("copied")).run().only.duration_s == (place + 1) / 1000


def test_twenty_draws_are_the_replications_of_the_command_line(page: tuple[Browser, str]) -> None:
    browser, address = page
    values = [{"duration": "0.5 s", "switch.0.ubr.drop": drop} for drop in ("tail-drop", "epd")]
    show(browser, address + link("lan-5", *values))
    browser.value("$('#draws').click()")
    browser.until("explorer.draws.results")
    runs = [
        examples.scenario("lan-5", overrides=[*one.items(), ("probe", "[]")]).run(replications=20) for one in values
    ]
    numbers = "({ totals, port }) => [totals.efficiency, port.max_queue_cells]"
    for place, of_side in enumerate(runs):
        found = browser.value(f"explorer.draws.results[{place}].map({numbers})")
        assert found == [[run.totals.efficiency, run.ports["west->east"].max_queue_cells] for run in of_side]
    low, high = interval([float(run.totals.efficiency or 0) for run in runs[0]]) or (0, 0)
    assert browser.value("$('#compared small').textContent") == f"{100 * low:.1f} to {100 * high:.1f} %"
    assert "One run is one draw" in browser.value("$('#compared caption').textContent")
    assert browser.value("$$('#compared .ranges').length") > 10
    for width in (1400, 900, 390):
        browser.size(width, 900, "light")
        assert browser.value("$('#compared').scrollWidth <= $('#compared').clientWidth"), width
    browser.size(1400, 900, "light")
    # With another value they are of the past.
    browser.value("explorer.set(0, { paths: ['duration'] }, '0.4 s')")
    assert browser.value("$$('#compared small').length") == 0
