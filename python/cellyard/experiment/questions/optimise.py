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
from cellyard.experiment.metric_kind import condition_text, mean_of, unit_of
from cellyard.experiment.not_known import run_longer, without_value
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.find import requirements
from cellyard.experiment.questions.question import Question
from cellyard.experiment.runner import CachedRunner, Replicate
from cellyard.show.words import counted, listed, number, spread, to_be
from cellyard.statistics.bounded import Value, as_fields
from cellyard.statistics.inference import Estimate, defined
from cellyard.statistics.ranges import mean
from cellyard.system.errors import UsageError

#: Samplers and pruners of Optuna by their names here.
SAMPLERS: Mapping[str, str] = {
    "tpe": "TPESampler",
    "nsga-ii": "NSGAIISampler",
    "random": "RandomSampler",
    "gp": "GPSampler",
}
#: Packages that some samplers need besides Optuna.
SAMPLER_PACKAGES: Mapping[str, tuple[str, ...]] = {"gp": ("scipy", "torch")}
PRUNERS: Mapping[str, str] = {
    "none": "NopPruner",
    "median": "MedianPruner",
    "successive-halving": "SuccessiveHalvingPruner",
    "hyperband": "HyperbandPruner",
}

#: Number of trials before Optuna's nsga-ii learns from any.
POPULATION = 50
#: Number of concurrent trials. Fixed, so that the number of threads does not change the result.
CONCURRENT_TRIALS = 8
#: Number of stages in which the replications of a trial are made if it may be pruned.
STAGES = 4

Direction = Literal["highest", "lowest"]


@dataclass(frozen=True)
class Optimise(Question):
    """The best of ``trials`` points by ``goals``: each metric ``highest`` or ``lowest``, as means over the replications.

    ``require`` holds conditions on those means. With one goal, ``pruner`` gives up a trial that
    does badly after some of its replications. ``sampler`` chooses the next points, with ``seed``.
    """

    goals: Mapping[str, Direction]
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
            f"trials = {self.trials}: the first {POPULATION} trials of nsga-ii are random; use more trials, or the sampler tpe"
        ]

    def chooses(self, axis: str) -> bool:
        """True: the question chooses the values of all axes."""
        return True

    def answer(self, plan: Plan, runner: CachedRunner) -> Answer:
        """The best point, or the Pareto front."""
        optuna = load_optuna()
        study = self._study(optuna)
        points: dict[int, Point] = {}
        unknown: list[Point] = []
        while len(study.trials) < self.trials:
            new_trials = [study.ask() for _ in range(min(CONCURRENT_TRIALS, self.trials - len(study.trials)))]
            for trial in new_trials:
                points[trial.number] = _suggested(trial, plan.space)
            self._measure(
                optuna, study, [_Trial(trial, points[trial.number]) for trial in new_trials], plan, runner, unknown
            )
        states = [trial.state.name for trial in study.trials]
        complete, pruned = states.count("COMPLETE"), states.count("PRUNED")
        best = [trial for trial in study.best_trials if all(map(math.isfinite, trial.values))] if complete else []
        sign = 1 if next(iter(self.goals.values())) == "lowest" else -1
        best.sort(key=lambda trial: (sign * trial.values[0], trial.number))
        replications = self._fresh_replications(plan) if len(self.goals) == 1 else plan.replication_numbers
        records = [self._record(points[trial.number], replications, plan, runner) for trial in _distinct(best, points)]
        not_known = [self._record(point, plan.replication_numbers, plan, runner) for point in dict.fromkeys(unknown)]
        sentences = self._sentences(
            records, plan, runner, [points[trial.number] for trial in best], complete, pruned, len(unknown)
        )
        if unknown:
            metrics = [*self.goals, *(name for text in self.require for name in Condition(text).names)]
            sentences += [*without_value(metrics, runner), *run_longer(metrics, runner)]
        tables = {"best": records, **({"not_known": not_known} if unknown else {})}
        return Answer(sentences, tables, tuple(self.goals))

    def _study(self, optuna: Any) -> Any:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        for module in SAMPLER_PACKAGES.get(self.sampler, ()):  # Optuna would fail only after its first, random trials
            if importlib.util.find_spec(module) is None:
                raise UsageError(f"the sampler {self.sampler} needs {module}: pip install {module}")
        sampler = getattr(optuna.samplers, SAMPLERS[self.sampler])(seed=self.seed)
        directions = ["maximize" if direction == "highest" else "minimize" for direction in self.goals.values()]
        return optuna.create_study(
            directions=directions, sampler=sampler, pruner=getattr(optuna.pruners, PRUNERS[self.pruner])()
        )

    @property
    def _prunes(self) -> bool:
        return len(self.goals) == 1 and self.pruner != "none"

    def _measure(
        self, optuna: Any, study: Any, trials: list[_Trial], plan: Plan, runner: CachedRunner, unknown: list[Point]
    ) -> None:
        """Run replications of trials in stages, give up those that do badly, and report all to the study.

        A trial cannot be best if a run gives no value of a metric in a goal or condition, or only its
        bounds. It joins ``unknown``, unless the metric has no value in any of its runs.
        """
        conditions = [Condition(text) for text in self.require]
        needed = [*self.goals, *(name for condition in conditions for name in condition.names)]
        open_trials = []
        for candidate in trials:
            if plan.allows(candidate.point):
                open_trials.append(candidate)
            else:
                study.tell(candidate.trial, state=optuna.trial.TrialState.FAIL)
        for count in _steps(plan.replications) if self._prunes else [plan.replications]:
            runner([Replicate(candidate.point, i) for candidate in open_trials for i in range(count)])
            unfinished = []
            for candidate in open_trials:
                samples = runner.samples([candidate.point], range(count))[0]
                means = _means(samples)
                values = [means[metric] for metric in self.goals]
                if any(not _is_known(samples, metric) for metric in needed):
                    unknown.append(candidate.point)
                    study.tell(candidate.trial, state=optuna.trial.TrialState.FAIL)
                elif any(value is None for value in values):
                    study.tell(candidate.trial, state=optuna.trial.TrialState.FAIL)
                elif count == plan.replications:
                    for condition in conditions:
                        candidate.trial.set_constraint(condition.text, _finite(condition.excess(means)))
                    study.tell(candidate.trial, values)
                else:
                    candidate.trial.report(values[0], count)
                    if candidate.trial.should_prune():
                        study.tell(candidate.trial, state=optuna.trial.TrialState.PRUNED)
                    else:
                        unfinished.append(candidate)
            open_trials = unfinished

    def _fresh_replications(self, plan: Plan) -> range:
        """Replications that had no part in choosing the best point of one goal."""
        return range(plan.replications, 2 * plan.replications)

    def _record(self, point: Point, replications: range, plan: Plan, runner: CachedRunner) -> dict[str, Any]:
        samples = runner.samples([point], replications)[0]
        record: dict[str, Any] = dict(point.shown_labels)
        for metric in plan.metrics:
            values: list[Any] = [value for sample in samples if (value := sample[metric]) is not None]
            record |= as_fields(metric, mean(values) if len(values) == len(samples) else None)
        return record

    def _sentences(
        self,
        records: Sequence[Mapping[str, Any]],
        plan: Plan,
        runner: CachedRunner,
        best: Sequence[Point],
        complete: int,
        pruned: int,
        unknown: int,
    ) -> list[str]:
        goal = listed([f"{direction} {metric}" for metric, direction in self.goals.items()])
        shown = {text: condition_text(text, plan.metrics, plan.noun) for text in self.require}
        under = f" with {listed(list(shown.values()))}" if self.require else ""
        among = f" among the {counted(complete + pruned, 'trial')} known" if unknown else ""
        effort = f"{counted(self.trials, 'trial')} by {self.sampler}: {complete} complete"
        if self._prunes:
            effort += f", {pruned} given up early ({self.pruner})"
        if unknown:
            effort += f", {unknown} not known"
        refused = self.trials - complete - pruned - unknown
        effort += f", {refused} outside the constraints or undefined." if refused else "."
        if not records:
            nothing = f"meets {listed(list(shown.values()))}" if self.require else f"defines {listed(list(self.goals))}"
            return [f"No trial {nothing}{among and ','}{among}.", effort]
        if len(self.goals) == 1:
            metric = next(iter(self.goals))
            unit = unit_of(plan.metrics[metric], plan.noun)
            chosen, again = (
                _estimate(runner.samples([best[0]], replications)[0], metric, plan)
                for replications in (plan.replication_numbers, self._fresh_replications(plan))
            )
            fresh = runner.samples([best[0]], self._fresh_replications(plan))[0]
            judged = [text for text in self.require if all(_is_known(fresh, name) for name in Condition(text).names)]
            broken = [shown[text] for text in judged if Condition(text).excess(records[0]) > 0]
            equal = counted(len(records) - 1, "other point")
            ties = f", and an equal one at {equal} tried" if len(records) > 1 else ""
            sentences = [
                f"The {goal}{under}{among} was found at {best[0]}{ties}: it is "
                f"{spread(again, unit) if again else 'not known'} in {counted(plan.replications, 'fresh replication')}.",
                f"In the replications that selected this point, {to_be(metric, 'was', 'were')} "
                f"{f'{number(chosen.mean)}{unit}' if chosen else 'undefined'}, which is biased by the selection.",
            ]
            if broken:
                verb = "does" if len(broken) == 1 else "do"
                sentences.append(f"In the fresh replications, {listed(broken)} {verb} not hold.")
            if judged != list(self.require):
                open_texts = listed([shown[text] for text in self.require if text not in judged])
                sentences.append(f"Whether {open_texts} holds there is not known.")
            return [*sentences, effort]
        ranges = []
        for metric in self.goals:
            values = [record[metric] for record in records]
            means = [
                mean_of(plan.metrics[metric], defined(samples, metric), CONFIDENCE)
                for samples in runner.samples(best, plan.replication_numbers)
            ]
            half = max(mean.half if mean else math.inf for mean in means)
            known = f"95 % confidence: +-{number(half)} or less" if math.isfinite(half) else "uncertainty not known"
            low, high, unit = number(min(values)), number(max(values)), unit_of(plan.metrics[metric], plan.noun)
            ranges.append(f"Their {to_be(metric)} {low if low == high else f'from {low} to {high}'}{unit} ({known}).")
        are_optimal = "1 point is" if len(records) == 1 else f"{len(records)} points are"
        return [
            f"{are_optimal} Pareto-optimal for {goal}{under}{among}: no trial beats any of these in every goal.",
            *ranges,
            "Selected points look slightly better than they are.",
            effort,
        ]


class _Trial(NamedTuple):
    trial: Any
    point: Point


def _distinct(trials: Sequence[Any], points: Mapping[int, Point]) -> list[Any]:
    seen: dict[Point, Any] = {}
    for trial in trials:
        seen.setdefault(points[trial.number], trial)
    return list(seen.values())


def _suggested(trial: Any, space: Sequence[Dimension]) -> Point:
    """The point that a trial requests: a fraction of the way along ranges, a value of lists."""
    levels: list[Any] = []
    for dimension in space:
        if dimension.axes[0].is_range:
            levels += dimension.at(trial.suggest_float(dimension.name, 0.0, 1.0))
        else:
            levels += dimension.at_index(trial.suggest_categorical(dimension.name, list(range(dimension.size))))
    return Point(tuple(levels))


def _steps(replications: int) -> list[int]:
    """Numbers of replications after which a trial is examined.

    >>> _steps(20), _steps(1)
    ([5, 10, 15, 20], [1])
    """
    return sorted({max(1, math.ceil(replications * k / STAGES)) for k in range(1, STAGES + 1)})


def _is_known(samples: Sequence[Mapping[str, Value]], metric: str) -> bool:
    """Whether all runs give a value of a metric, and not only bounds, or none does."""
    return len(defined(samples, metric)) == len(samples) or all(sample[metric] is None for sample in samples)


def _estimate(samples: Sequence[Mapping[str, Value]], metric: str, plan: Plan) -> Estimate | None:
    """The mean of a metric with its interval; ``None`` where it is not known."""
    if not _is_known(samples, metric):
        return None
    return mean_of(plan.metrics[metric], defined(samples, metric), CONFIDENCE)


def _means(samples: Sequence[Mapping[str, Value]]) -> dict[str, float | None]:
    """The mean of each metric over the replications that define it."""
    names = samples[0] if samples else {}
    return {metric: fmean(values) if (values := defined(samples, metric)) else None for metric in names}


def _finite(value: float) -> float:
    return min(value, 1e300)


def load_optuna() -> Any:
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
    allowed = 'a table such as { efficiency = "highest", max_queue_cells = "lowest" }'
    goals = fields.raw("goals")
    if not isinstance(goals, Mapping) or not goals:
        if "goals" in fields:
            fields.wrong("goals", allowed, "is not a table of metrics")
        else:
            fields.missing("goals", allowed)
        goals = {}
    for metric, direction in goals.items():
        path = (*fields.at("goals"), metric)
        if metric not in plan.metrics:
            fields.problems.add(path, metric, "is not a metric of the experiment", near=plan.metrics)
        if direction not in ("highest", "lowest"):
            fields.problems.add(path, direction, 'must be "highest" or "lowest"', near=("highest", "lowest"))
    if plan.design.kind != "grid":
        fields.problems.add(
            ("design",),
            plan.design.kind,
            "cannot be used with the question optimise, which chooses its points itself",
            allowed="grid",
        )
    question = Optimise(dict(goals), requirements(fields, plan, needed=False))
    return replace(
        question,
        trials=fields.whole("trials", question.trials, least=1, most=100_000) or question.trials,
        sampler=fields.choice("sampler", tuple(SAMPLERS), question.sampler),
        pruner=fields.choice("pruner", tuple(PRUNERS), question.pruner),
        seed=fields.whole("seed", 1, least=0, most=2**32 - 1) or 0,
    )
