"""Values from Python: numpy numbers, computed floats, and values that no scenario can have."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import cellyard as cy
import numpy as np
import pytest
from conftest import LAN
from hypothesis import given, settings, strategies as st
from test_api import lan


def with_drop(drop: Any) -> cy.Scenario:
    return lan(switches=[cy.Switch(name="west", ubr=cy.Queue(buffer="500 cells", drop=drop)), cy.Switch(name="east")])


@pytest.mark.parametrize(
    "number", [np.int64(3), np.uint8(3), np.float64(3), 3.0, np.array(3), Fraction(3), Decimal(3)], ids=repr
)
def test_a_whole_number_may_be_of_any_type(number: Any) -> None:
    paths = ("host.source.count", "host.sink.count")
    assert lan().with_values(dict.fromkeys(paths, number)) == lan().with_values(dict.fromkeys(paths, 3))
    assert lan(seed=number) == lan(seed=3) == lan().with_seed(number)
    assert cy.Scenario.from_toml(LAN, overrides={"seed": number}) == lan(seed=3)


def test_options_of_runs_accept_numbers_of_any_type() -> None:
    scenario = lan(duration="10 ms")
    results = scenario.run(replications=np.int64(2), jobs=np.int8(1), seed=np.uint64(5))  # type: ignore[arg-type]
    assert results == scenario.run(replications=2, jobs=1, seed=5)
    with pytest.raises(cy.UsageError, match=r"replications = 2\.5: must be a whole number"):
        scenario.run(replications=np.float64(2.5))  # type: ignore[arg-type]


def test_computed_floats_are_rounded_to_the_decimals_of_the_model() -> None:
    assert with_drop(cy.Fba(z=0.1 + 0.2)) == with_drop(cy.Fba(z=0.3))
    assert with_drop(cy.Fba(z=0.3 - 0.2 - 0.1)) == with_drop(cy.Fba(z=0))
    for z in np.linspace(0, 1, 7):
        made = with_drop(cy.Fba(z=z))
        assert made == lan().with_values({"switch.west.ubr.drop": cy.Fba(z=z)})
        assert made == lan().with_values({"switch.west.ubr.drop": "fba", "switch.west.ubr.drop.z": z})
        assert made == with_drop(cy.Fba(z=round(float(z), 6)))
    rate = lan().with_values({"link.rate": f"{100 / 3} Mbps"})
    assert rate == lan().with_values({"link.rate": "33.333333 Mbps"})
    with pytest.raises(cy.ScenarioError, match=r"z = -0\.1: must not be negative"):
        with_drop(cy.Fba(z=-0.1))
    with pytest.raises(cy.ScenarioError, match="has more than 6 decimals"):
        cy.Scenario.from_toml(LAN.replace('"epd"', '{ policy = "fba", z = 0.30000000000000004 }'))


def test_arrays_are_lists() -> None:
    link = cy.Link(from_="west", to="east", rate="155.52 Mbps", delay="5 us", lose_frames=np.array([1, 2]))  # type: ignore[arg-type]
    assert link.lose_frames == (1, 2) and hash(link) == hash(copy.deepcopy(link))
    expected = lan().with_values({"link.west->east.lose_frames": [1, 2]})
    assert lan().with_values({"link.west->east.lose_frames": np.arange(1, 3)}) == expected
    assert lan().with_values({"link.west->east.lose_frames": np.linspace(1, 2, 2)}) == expected


def test_a_name_beyond_the_basic_plane_survives() -> None:
    assert lan().with_values({"measure": {"warm_up": None}, "name": "\U0001f600 a"}).name == "\U0001f600 a"
    vc = {"name": "\U0001f600", "from": "source", "to": "sink", "traffic": "tcp"}
    with pytest.raises(cy.ScenarioError, match="contains the character"):
        lan().with_values({"vc.0": vc})


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


#: A probe that writes a file.
CAPTURE = cy.CaptureProbe(of="west->east", layer="cells")


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "class": (lambda: with_drop(cy.Epd), r"switches\[0\].ubr.drop = Epd: is a class; did you mean Epd\(...\)\?"),
    "function": (lambda: with_drop(len), r"its type is builtin_function_or_method; did you mean len\(\)\?"),
    "surrogate": (lambda: lan(name="\ud800"), r"name = '\\ud800': contains half of a surrogate pair"),
    "surrogate in a text": (lambda: cy.Scenario.from_toml("name = '\ud800'"), "text = .*half of a surrogate pair"),
    "surrogate in a path": (lambda: lan().with_values({"\ud800": 1}), "path in values = .*half of a surrogate pair"),
    "generator": (lambda: lan(hosts=(host for host in "ab")), "hosts = <generator.*its type is generator"),
    "set": (lambda: lan(hosts={1}), r"hosts = \{1\}: must be a string.*its type is set"),
    "bytes": (lambda: lan(duration=b"1 s"), "duration = b'1 s'.*its type is bytes"),
    "complex": (lambda: lan(seed=1j), "seed = 1j"),
    "none in a list": (lambda: lan().with_values({"link.lose_frames": [None]}), r"lose_frames\[0\] = None"),
    "key": (lambda: lan(measure={1: "1 s"}), "measure = 1: must be a string"),
    "too deep": (lambda: lan(hosts=nested(5000)), "more than 20 nested tables and lists"),
    "huge": (lambda: lan(seed=10**5000), "seed: has more than 30 digits"),
    "not a number": (lambda: lan(seed=np.nan), "seed = nan: must be a finite number"),
    "text": (lambda: cy.Scenario.from_toml(b"name = 'a'"), "text = b.*must be a string"),  # type: ignore[arg-type]
    "file": (lambda: cy.Scenario.from_toml(LAN, file=3), "file = 3: must be a string"),  # type: ignore[arg-type]
    "name of a file": (
        lambda: cy.Scenario.from_toml("lan-5.toml"),
        "is the name of a file; use Scenario.read for a file",
    ),
    "path": (lambda: cy.Scenario.read(3), "path = 3: must be the name of a file"),  # type: ignore[arg-type]
    "path with NUL": (lambda: cy.Scenario.read("a\0b"), "must be the name of a file"),
    "path that cannot be": (lambda: cy.Scenario.read("\ud800"), "it is not a valid file name"),
    "overrides": (lambda: cy.Scenario.from_toml(LAN, overrides=3), "overrides = 3: must map paths"),  # type: ignore[arg-type]
    "one override": (lambda: cy.Scenario.from_toml(LAN, overrides=("seed", "1")), "must map paths"),  # type: ignore[arg-type]
    "values": (lambda: lan().with_values("seed=1"), "values = 'seed=1': must map paths"),  # type: ignore[arg-type]
    "path of values": (lambda: lan().with_values({3: 1}), "path in values = 3: must be a string"),  # type: ignore[arg-type]
    "path of a store": (lambda: cy.open_store(None), "path = None: must be the name of a file"),  # type: ignore[arg-type]
    "folder of captures": (
        lambda: lan().with_values({"probe": [CAPTURE]}).run(captures=3),  # type: ignore[arg-type]
        "captures = 3: must be the name of a file",
    ),
    "store": (lambda: lan().run(store=3), "store = 3: must be an open store"),  # type: ignore[arg-type]
    "file of a store": (
        lambda: lan().run(store="a"),  # type: ignore[arg-type]
        "store = 'a': must be an open store, such as cellyard.open_store",
    ),
    "cluster": (lambda: lan().run(on="tcp://a:1", workers=2), "either on .* or workers .*, not both"),
    "study": (lambda: cy.study.load(None), "name = None: must be the name of a file"),  # type: ignore[arg-type]
    "tables": (
        lambda: cy.study.select(cy.study.load("ubr-plus"), "2-3"),
        r"tables = '2-3': must be a list of names, such as \['2-3'\]",
    ),
    "kernel": (lambda: lan().run(kernel=[1]), r"kernel `\[1\]` does not exist"),  # type: ignore[arg-type]
    "metric": (lambda: lan(duration="1 ms").run().median(["a"]), "metric .* does not exist"),  # type: ignore[arg-type]
    "unwritable metric": (lambda: lan(duration="1 ms").run().median("\ud800"), "metric .* does not exist"),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_error_about_a_wrong_argument_names_it(case: str) -> None:
    call, message = WRONG[case]
    with pytest.raises((cy.UsageError, cy.ScenarioError), match=message):
        call()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9) | st.binary(max_size=9)
    | st.sampled_from([cy.Epd, cy.Epd(), cy.Host(name="a"), object(), 1j, Path(), np.datetime64("2026-01-01"), len]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3) | st.tuples(inner),
    max_leaves=6,
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(["name", "duration", "hosts", "switches", "vcs", "probes", "measure", "seed"]), anything)
def test_any_invalid_value_is_an_error_of_cellyard(field: str, value: Any) -> None:
    path = {"hosts": "host.source.count", "switches": "switch.west.ubr", "vcs": "vc.traffic", "probes": "probe"}
    makes: list[Callable[[], object]] = [
        lambda: lan(**{field: value}),
        lambda: lan().with_values({path.get(field, field): value}),
    ]
    for make in makes:
        try:
            make()
        except cy.CellyardError as error:
            assert str(error)


def _fails(seed: int) -> None:
    cy.Scenario.from_toml(f"seed = {-seed}\nduration = '1 parsec'")


def test_errors_can_be_copied_and_cross_processes() -> None:
    with pytest.raises(cy.ScenarioError) as caught:
        _fails(1)
    error = caught.value
    for made in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(made) is cy.ScenarioError
        assert made.problems == error.problems and str(made) == str(error)
    unknown = cy.UnknownNameError("port `a` does not exist")
    assert str(pickle.loads(pickle.dumps(unknown))) == "port `a` does not exist"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pending = pool.apply_async(_fails, (1,))
        with pytest.raises(cy.ScenarioError) as crossed:
            pending.get(timeout=60)
    assert crossed.value.problems == error.problems
