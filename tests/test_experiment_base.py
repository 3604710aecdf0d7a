"""The row of a study as the base of an experiment, and axis values that leave a base as it is."""

from typing import Any

import pytest
from cellyard import Scenario
from cellyard.experiment import Experiment
from cellyard.study import load, select
from conftest import Cli

ROW = {"environment": "access", "mss_bytes": 1460, "drop_policy": "red"}
BASE = (
    'name = "row"\nreplications = 1\nquestion = "table"\n'
    'base = { study = "cell-discard", table = "1-2", row = { environment = "access", mss_bytes = 1460, drop_policy = "red" } }\n'
)
REST = "has its own `rest_of_frame`"


def experiment(*lines: str, metrics: str = '["goodput", "fairness"]', changes: str = "") -> Experiment:
    """Return an experiment on a row of RED, cut to two seconds."""
    set_ = f'set = {{ duration = "2 s"{changes} }}\n'
    return Experiment.from_toml("\n".join([f"{BASE}{set_}metrics = {metrics}", *lines]))


def axis(path: str, *values: str) -> str:
    """Return an axis with these values, as written."""
    return f'[[axis]]\nname = "varied"\npath = "{path}"\nvalues = [{", ".join(values)}]'


def scenarios(made: Experiment) -> list[Scenario]:
    """Return the scenarios of all points."""
    return [made.plan.scenario(point.levels) for point in made.plan.points()]


def queue(scenario: Scenario) -> dict[str, Any]:
    """Return the UBR queue of the west switch."""
    (west,) = [switch for switch in scenario.to_dict()["switches"] if switch["name"] == "west"]
    found: dict[str, Any] = west["queues"][0]
    return found


def test_the_value_base_leaves_the_base_and_default_is_that_of_the_format() -> None:
    made = experiment(axis("switch.west.ubr.drop", '"base"', '"default"', '"tail-drop"'))
    base, default, tail_drop = scenarios(made)
    assert base == made.plan.base and default == tail_drop != base
    assert made.notes[0] == (
        "varied = tail-drop gives the same scenario as varied = default: their results are equal; "
        "`default` is the default of the format, and `base` the value of the base"
    )
    assert not [
        note
        for note in experiment(axis("switch.west.ubr.buffer", '"base"', '"9000 cells"')).notes
        if "same scenario" in note
    ]


def test_a_policy_brings_its_own_rest_of_frame_unless_the_description_states_it() -> None:
    study = load("cell-discard")
    of_study = {
        row["drop_policy"]: queue(study.scenario(row))["rest_of_frame"]
        for row in select(study, ["1-2"]).where(environment="access", mss_bytes=1460)
    }
    assert of_study["tail-drop"] != of_study["red"]
    made = experiment(axis("switch.west.ubr.drop", '"base"', '"tail-drop"'))
    assert [queue(scenario)["rest_of_frame"] for scenario in scenarios(made)] == [
        of_study["red"],
        of_study["tail-drop"],
    ]
    assert [REST in note for note in made.notes].count(True) == 1
    by_set = experiment(axis("vc.*.start", '"0 s"'), changes=', "switch.west.ubr.drop" = "tail-drop"')
    assert queue(by_set.plan.base)["rest_of_frame"] == of_study["tail-drop"]
    assert [note.split(" changes")[0] for note in by_set.notes if REST in note] == ["`set`"]
    stated = experiment(
        axis("switch.west.ubr.drop", '"tail-drop"'), changes=', "switch.west.ubr.rest_of_frame" = "drop"'
    )
    assert [queue(scenario)["rest_of_frame"] for scenario in scenarios(stated)] == ["drop"]
    assert not [note for note in stated.notes if REST in note]


def test_the_metrics_of_the_study_are_metrics() -> None:
    made = experiment(
        axis("vc.*.start", '"0 s"'),
        metrics='{ goodput = "goodput", fairness = "fairness", jain = "totals.fairness", both = "goodput + fairness" }',
    )
    (point,) = made.run().points()
    (row,) = select(load("cell-discard"), ["1-2"], {key: str(value) for key, value in ROW.items()})
    run = scenarios(made)[0].run(replications=1).runs[0]
    own = load("cell-discard").measures.of(run, row)
    found = {name: point[name]["mean"] for name in ("goodput", "fairness", "jain", "both")}
    assert found == {
        "goodput": own["goodput"],
        "fairness": own["fairness"],
        "jain": run.totals.fairness,
        "both": own["goodput"] + own["fairness"],
    }
    assert found["jain"] != found["fairness"]
    with pytest.raises(ValueError, match="did you mean `goodput`"):
        experiment(axis("vc.*.start", '"0 s"'), metrics='["godput"]')


def test_a_row_is_printed_as_a_scenario(cli: Cli) -> None:
    where = [option for key, value in ROW.items() for option in ("--where", f"{key}={value}")]
    done = cli("study", "scenario", "cell-discard", "--table", "1-2", *where)
    (row,) = select(load("cell-discard"), ["1-2"], {key: str(value) for key, value in ROW.items()})
    assert Scenario.from_toml(done.stdout) == load("cell-discard").scenario(row)
    told = cli.refused("study", "scenario", "cell-discard", "--table", "1-2", *where[2:])
    assert told.endswith(
        "2 rows of the study match, and exactly one is needed; select one by setting --where environment=.., --where parameters=..\n"
    )
