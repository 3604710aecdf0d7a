"""The question ``optimise``: the best values of the axes by one or several metrics, under requirements, using Optuna."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar, Literal, NamedTuple

from cellyard.experiment.description.design import Dimension, Point
from cellyard.experiment.description.expression import Condition
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.metric_kind import mean_of
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.find import requirements
from cellyard.experiment.questions.question import Question
from cellyard.experiment.runner import CachedRunner, Replicate
from cellyard.show.words import counted, listed, number, spread
from cellyard.statistics.inference import defined
from cellyard.statistics.ranges import Number
from cellyard.system.errors import UsageError

#: Samplers and pruners of Optuna by their names here.
SAMPLERS: Mapping[str, str] = {
    "tpe": "TPESampler",
    "nsga-ii": "NSGAIISampler",
    "random": "RandomSampler",
    "gp": "GPSampler",
}
#: Packages that some samplers need besides Optuna.
NEEDED: Mapping[str, tuple[str, ...]] = {"gp": ("scipy", "torch")}
PRUNERS: Mapping[str, str] = {
    "none": "NopPruner",
    "median": "MedianPruner",
    "successive-halving": "SuccessiveHalvingPruner",
    "hyperband": "HyperbandPruner",
}

#: Number of trials before Optuna's nsga-ii learns from any.
POPULATION = 50
#: Number of concurrent trials. Fixed, so that the number of threads does not change the result.
AT_ONCE = 8
#: Number of parts in which replications of a trial are made if it may be pruned.
PARTS = 4

Way = Literal["highest", "lowest"]


@dataclass(frozen=True)
class Optimise(Question):
    """The best of ``trials`` points by ``goals``: each metric ``highest`` or ``lowest``, as means over the replications.

    ``require`` holds conditions on those means. With one goal, ``pruner`` gives up a trial that
    does badly after some of its replications. ``sampler`` chooses the next points, with ``seed``.
    """

    goals: Mapping[str, Way]
    require: Sequence[str] = ()
    trials: int = 100
    sampler: str = "tpe"
    pruner: str = "median"
    seed: int = 1
    kind: ClassVar[str] = "optimise"

    def expected(self, plan: Plan) -> Expected:
        """All trials with all replications. With one goal, the best trial is also run again."""
        again = plan.replications if len(self.goals) == 1 else 0
        return Expected(self.trials, self.trials * plan.replications + again, at_most=True)

    def warnings(self, plan: Plan) -> list[str]:
        """A warning about a sampler that never leaves its first, random population."""
        if self.sampler != "nsga-ii" or self.trials > POPULATION:
            return []
        return [
            f"trials = {self.trials}: the first {POPULATION} trials of nsga-ii are random; it needs more, or choose the sampler tpe"
        ]

    def chooses(self, axis: str) -> bool:
        """True: the question chooses the values of all axes."""
        return True

    def answer(self, plan: Plan, runner: CachedRunner) -> Answer:
        """The best point, or the Pareto front."""
        optuna = load()
        study = self._study(optuna)
        points: dict[int, Point] = {}
        while len(study.trials) < self.trials:
            asked = [study.ask() for _ in range(min(AT_ONCE, self.trials - len(study.trials)))]
            for trial in asked:
                points[trial.number] = _suggested(trial, plan.space)
            self._measure(optuna, study, [_Trial(trial, points[trial.number]) for trial in asked], plan, runner)
        states = [trial.state.name for trial in study.trials]
        complete, pruned = states.count("COMPLETE"), states.count("PRUNED")
        best = [trial for trial in study.best_trials if all(map(math.isfinite, trial.values))] if complete else []
        way = 1 if next(iter(self.goals.values())) == "lowest" else -1
        best.sort(key=lambda trial: (way * trial.values[0], trial.number))
        draws = self._fresh(plan) if len(self.goals) == 1 else plan.draws
        records = [self._record(points[trial.number], draws, plan, runner) for trial in _each_once(best, points)]
        return Answer(
            self._told(records, plan, runner, [points[t.number] for t in best], complete, pruned),
            {"best": records},
            tuple(self.goals),
        )

    def _study(self, optuna: Any) -> Any:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        for module in NEEDED.get(self.sampler, ()):  # Optuna itself would notice after some trials only
            if importlib.util.find_spec(module) is None:
                raise UsageError(f"the sampler {self.sampler} needs {module}: pip install {module}")
        sampler = getattr(optuna.samplers, SAMPLERS[self.sampler])(seed=self.seed)
        directions = ["maximize" if way == "highest" else "minimize" for way in self.goals.values()]
        return optuna.create_study(
            directions=directions, sampler=sampler, pruner=getattr(optuna.pruners, PRUNERS[self.pruner])()
        )

    @property
    def _prunes(self) -> bool:
        return len(self.goals) == 1 and self.pruner != "none"

    def _measure(self, optuna: Any, study: Any, trials: list[_Trial], plan: Plan, runner: CachedRunner) -> None:
        """Run replications of trials in parts, give up those that do badly, and report all to the study."""
        conditions = [Condition(text) for text in self.require]
        open_trials = []
        for one in trials:
            if plan.allows(one.point):
                open_trials.append(one)
            else:
                study.tell(one.trial, state=optuna.trial.TrialState.FAIL)
        for count in _steps(plan.replications) if self._prunes else [plan.replications]:
            runner([Replicate(one.point, i) for one in open_trials for i in range(count)])
            still = []
            for one in open_trials:
                means = _means(runner.samples([one.point], range(count))[0])
                values = [means[metric] for metric in self.goals]
                if any(value is None for value in values):
                    study.tell(one.trial, state=optuna.trial.TrialState.FAIL)
                elif count == plan.replications:
                    for condition in conditions:
                        one.trial.set_constraint(condition.text, _finite(condition.excess(means)))
                    study.tell(one.trial, values)
                else:
                    one.trial.report(values[0], count)
                    if one.trial.should_prune():
                        study.tell(one.trial, state=optuna.trial.TrialState.PRUNED)
                    else:
                        still.append(one)
            open_trials = still

    def _fresh(self, plan: Plan) -> range:
        """Replications that had no part in choosing the best point of one goal."""
        return range(plan.replications, 2 * plan.replications)

    def _record(self, point: Point, draws: range, plan: Plan, runner: CachedRunner) -> dict[str, Any]:
        samples = runner.samples([point], draws)[0]
        return {**point.told, **{metric: _means(samples)[metric] for metric in plan.metrics}}

    def _told(
        self,
        records: Sequence[Mapping[str, Any]],
        plan: Plan,
        runner: CachedRunner,
        best: Sequence[Point],
        complete: int,
        pruned: int,
    ) -> list[str]:
        goal = listed([f"{way} {metric}" for metric, way in self.goals.items()])
        under = f" with {listed(list(self.require))}" if self.require else ""
        work = f"{counted(self.trials, 'trial')} by {self.sampler}, {complete} of them whole"
        if self._prunes:
            work += f", {pruned} given up early ({self.pruner})"
        refused = self.trials - complete - pruned
        work += f", {refused} outside the constraints or undefined." if refused else "."
        if not records:
            return [f"No trial has {listed(list(self.require)) or goal}.", f"{work[0].upper()}{work[1:]}"]
        if len(self.goals) == 1:
            metric = next(iter(self.goals))
            chosen, again = (
                mean_of(plan.metrics[metric], defined(runner.samples([best[0]], draws)[0], metric), CONFIDENCE)
                for draws in (plan.draws, self._fresh(plan))
            )
            broken = [text for text in self.require if Condition(text).excess(records[0]) > 0]
            lost = (
                f" In the fresh ones {listed(broken)} {'does' if len(broken) == 1 else 'do'} not hold."
                if broken
                else ""
            )
            first = (
                f"The {goal}{under} was found at {best[0]}: {spread(again) if again else 'undefined'} in "
                f"{counted(plan.replications, 'fresh replication')}. In those that chose it, it was "
                f"{number(chosen.mean) if chosen else 'undefined'}, which flatters it.{lost}"
            )
            return [first, f"{work[0].upper()}{work[1:]}"]
        ends = [
            f"{metric} from {number(min(values))} to {number(max(values))}"
            for metric in self.goals
            if (values := [record[metric] for record in records])
        ]
        are = f"{counted(len(records), 'point')} {'is' if len(records) == 1 else 'are'} best by {goal}{under}"
        first = f"{are}: none is beaten in all of these at once; {listed(ends)}."
        return [f"{first} Each is selected, and so looks a little better than it is.", f"{work[0].upper()}{work[1:]}"]


class _Trial(NamedTuple):
    trial: Any
    point: Point


def _each_once(trials: Sequence[Any], points: Mapping[int, Point]) -> list[Any]:
    seen: dict[Point, Any] = {}
    for trial in trials:
        seen.setdefault(points[trial.number], trial)
    return list(seen.values())


def _suggested(trial: Any, space: Sequence[Dimension]) -> Point:
    """The point that a trial requests: a fraction of the way along ranges, a value of lists."""
    levels: list[Any] = []
    for one in space:
        if one.axes[0].is_range:
            levels += one.at(trial.suggest_float(one.name, 0.0, 1.0))
        else:
            levels += one.place(trial.suggest_categorical(one.name, list(range(one.size))))
    return Point(tuple(levels))


def _steps(replications: int) -> list[int]:
    """Numbers of replications after which a trial is examined.

    >>> _steps(20), _steps(1)
    ([5, 10, 15, 20], [1])
    """
    return sorted({max(1, math.ceil(replications * k / PARTS)) for k in range(1, PARTS + 1)})


def _means(samples: Sequence[Mapping[str, Number]]) -> dict[str, float | None]:
    """The mean of each metric over the replications that define it."""
    names = samples[0] if samples else {}
    return {metric: fmean(values) if (values := defined(samples, metric)) else None for metric in names}


def _finite(value: float) -> float:
    return min(value, 1e300)


def load() -> Any:
    """The module `optuna`; raises `UsageError` when it is missing."""
    try:
        import optuna
    except ImportError:
        raise UsageError("the question optimise needs optuna: pip install optuna") from None
    return optuna


#: Fields of the question's table besides ``kind``.
FIELDS = ("goals", "require", "trials", "sampler", "pruner", "seed")


def read(fields: Fields, plan: Plan) -> Optimise:
    """Read the question from its table."""
    allowed = 'a table as { efficiency = "highest", max_queue_cells = "lowest" }'
    goals = fields.raw("goals")
    if not isinstance(goals, Mapping) or not goals:
        if "goals" in fields:
            fields.wrong("goals", allowed, "is not a table of metrics")
        else:
            fields.missing("goals", allowed)
        goals = {}
    for metric, way in goals.items():
        path = (*fields.at("goals"), metric)
        if metric not in plan.metrics:
            fields.problems.add(path, metric, "is not a metric of the experiment", near=plan.metrics)
        if way not in ("highest", "lowest"):
            fields.problems.add(path, way, 'must be "highest" or "lowest"', near=("highest", "lowest"))
    if plan.design.kind != "grid":
        fields.problems.add(
            ("design",), plan.design.kind, "does not go with a search, which chooses its points itself", allowed="grid"
        )
    made = Optimise(dict(goals), requirements(fields, plan, needed=False))
    return replace(
        made,
        trials=fields.whole("trials", made.trials, least=1, most=100_000) or made.trials,
        sampler=fields.choice("sampler", tuple(SAMPLERS), made.sampler),
        pruner=fields.choice("pruner", tuple(PRUNERS), made.pruner),
        seed=fields.whole("seed", 1, least=0, most=2**32 - 1) or 0,
    )
