"""Results of the runs of one scenario."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any, Literal, Protocol, overload

from cellyard.results import run_notes
from cellyard.results.part import ResultPart
from cellyard.results.run import Named, RunResult, Trace
from cellyard.results.tables import SERIES
from cellyard.results.types import ClassResult, PoolResult, PortResult, Series, Totals, VcResult
from cellyard.show import frame
from cellyard.show.notebook import table_html
from cellyard.show.text import format_value
from cellyard.statistics.bounded import Bounded, known
from cellyard.statistics.ranges import has_quantiles, interval, median
from cellyard.system.errors import SeveralRunsError, unknown


class HasNotes(Protocol):
    """What results need of their scenario."""

    def notes(self, *, replicated: bool = False) -> list[str]:
        """Notes about its settings."""

    def states(self, field: str) -> bool:
        """Whether its text states this field."""


class Results(Sequence[RunResult]):
    """The runs of one scenario: a single run, or the replications of an ensemble in order.

    With a single run, all attributes of `RunResult` are available. With several runs they raise an
    error; use `median` and `interval` instead.
    """

    def __init__(self, runs: Sequence[RunResult], scenario: HasNotes | None = None) -> None:
        self.runs = tuple(runs)
        self._scenario = scenario

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes about the scenario and its runs, as `cellyard run` prints them."""
        if self._scenario is None:
            return ()
        states_ties = self._scenario.states("tie_order")
        found = run_notes.printed([run.data for run in self.runs], states_tie_order=states_ties)
        replicated = any(run.replication is not None for run in self.runs)
        return tuple(dict.fromkeys([*self._scenario.notes(replicated=replicated), *(note.text for note in found)]))

    @overload
    def __getitem__(self, index: int) -> RunResult: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[RunResult]: ...

    def __getitem__(self, index: int | slice) -> RunResult | Sequence[RunResult]:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[RunResult]:
        return iter(self.runs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Results) and self.runs == other.runs

    def __hash__(self) -> int:
        return hash(self.runs)

    def __repr__(self) -> str:
        notes = "".join(f"\nnote: {note}" for note in self.notes)
        if len(self.runs) == 1:
            return f"Results({self.runs[0]!r}){notes}"
        name = f"{self.runs[0].name!r}, " if self.runs else ""
        medians_by_metric = {metric: self.median(metric) for metric in ("goodput_mbps", "efficiency", "fairness")}
        medians = ", ".join(
            f"{metric} {format_value(value)}" for metric, value in medians_by_metric.items() if value is not None
        )
        return f"Results({name}{len(self.runs)} runs{f'; medians: {medians}' if medians else ''}){notes}"

    def _repr_html_(self) -> str:
        """Show the VCs and ports of a single run, or medians and ranges of the totals of an ensemble, and the notes."""
        notes = "".join(f"<p>note: {escape(note)}</p>" for note in self.notes)
        if len(self) == 1:
            return self[0]._repr_html_() + notes
        if not self.runs:
            return "no runs"
        ranges = {metric: (is_count, self.interval(metric)) for metric, is_count in Totals.numbers().items()}
        rows = [
            [
                metric,
                *(format_value(value, is_count=True) if is_count else value for value in (self.median(metric), *ends)),
            ]
            for metric, (is_count, ends) in ranges.items()
            if ends
        ]
        heads = ["5 %", "95 %"] if has_quantiles(len(self)) else ["smallest", "largest"]
        title = f"<b>{escape(self[0].name)}</b>: {len(self)} runs"
        return title + table_html(["", "median", *heads], rows) + notes

    @property
    def only(self) -> RunResult:
        """Return the single run. Raises `SeveralRunsError` when there are several."""
        if len(self.runs) != 1:
            raise SeveralRunsError(
                f"this needs a single run, but there are {len(self.runs)}: index them, or use median() and interval()"
            )
        return self.runs[0]

    @property
    def name(self) -> str:
        """Name of the scenario of the single run."""
        return self.only.name

    @property
    def seed(self) -> int:
        """Seed of the single run."""
        return self.only.seed

    @property
    def replication(self) -> int | None:
        """Replication index of the single run; ``None`` for a run without an ensemble."""
        return self.only.replication

    @property
    def duration_s(self) -> float:
        """Simulated time of the single run, in seconds."""
        return self.only.duration_s

    @property
    def measured_s(self) -> float:
        """Measuring time of the single run, in seconds."""
        return self.only.measured_s

    @property
    def digest(self) -> str | None:
        """Digest over all cell transmissions of the single run; ``None`` unless requested."""
        return self.only.digest

    @property
    def totals(self) -> Totals:
        """Totals of the single run."""
        return self.only.totals

    @property
    def vcs(self) -> Named[VcResult]:
        """VCs of the single run by name."""
        return self.only.vcs

    @property
    def pools(self) -> Named[PoolResult]:
        """Pools of the single run by switch."""
        return self.only.pools

    @property
    def ports(self) -> Named[PortResult]:
        """Ports of the single run by name."""
        return self.only.ports

    @property
    def classes(self) -> Named[ClassResult]:
        """Service classes of the single run by name."""
        return self.only.classes

    @property
    def series(self) -> tuple[Series, ...]:
        """Series of the single run."""
        return self.only.series

    @property
    def trace(self) -> Trace:
        """Dropped cells that the ``trace`` probes of the single run recorded."""
        return self.only.trace

    def values(self, metric: str) -> list[float]:
        """Return the values of a metric over the runs, without runs if it is undefined or only bounded.

        The metric is a field of `Totals`, or a path as used in studies and experiments:
        ``vc.vc1.goodput_mbps``, ``max(port.*.mean_queue_cells)``. Raises `cellyard.UsageError` for
        an unknown field or path.
        """
        return [value for value in self._values(metric) if not isinstance(value, Bounded)]

    def _values(self, metric: str) -> list[Any]:
        """Return `values`, and the bounds of values that are not known."""
        totals = Totals.numbers()
        if not isinstance(metric, str) or (metric not in totals and not {".", "("} & set(metric)):
            raise unknown("metric", metric, totals)
        from cellyard.results.path import metric_path

        path = metric_path(f"totals.{metric}" if metric in totals else metric)
        values = (path.value_in(run) for run in self.runs)
        return [1.0 * value for value in values if value is not None]

    def median(self, metric: str) -> float | None:
        """Return the median of a metric over the runs that define it.

        ``None`` when no run does, and when bounds of its values do not decide the median.
        """
        middle: Any = median(self._values(metric))
        return None if isinstance(middle, Bounded) else middle

    def interval(self, metric: str) -> tuple[float, float] | None:
        """Return the range of a metric as in `values`, between the values nearest in rank to the 5 % and the 95 % quantile.

        With up to 10 runs, the range is from the smallest to the largest value. ``None`` in the
        cases of `median`, for either end.
        """
        ends = interval(self._values(metric))
        return None if ends is None or not known(ends) else (ends[0], ends[1])

    def to_frame(self, kind: Literal["polars", "pandas"] = "polars", *, of: str = "totals") -> Any:
        """Return the results of every run as a data frame of polars or pandas.

        ``of`` selects the rows: ``totals`` (one row per run); ``vcs``, ``ports`` or ``classes``
        (one row for each of them in each run); ``transfers`` (one row per finished file, with its
        VC); or ``series`` (one row per point). Column names contain the units. In pandas, the names
        in ``series`` are categories.

        Raises `cellyard.UsageError` for any other value, and when the library is missing.
        """
        if of not in _FRAMES:
            raise unknown("frame of", str(of), _FRAMES)
        records = [
            {"run": number, "replication": run.replication, **record}
            for number, run in enumerate(self.runs)
            for record in _FRAMES[of](run)
        ]
        if of == "series":
            all_series = [series for run in self.runs for series in run.series]
            return frame.points_frame(
                records, {name: [getattr(series, name) for series in all_series] for name in Series.PARTS}, kind
            )
        return frame.records_frame(records, kind)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {"runs": [run.to_dict() for run in self.runs]}


def _numbers_of(part: ResultPart) -> dict[str, Any]:
    return {name: getattr(part, name) for name in type(part).numbers()}


def _head(series: Series) -> dict[str, Any]:
    """Return the values that precede each point of a series."""
    values = (series.what, series.of, series.service_class, series.vc, series.unit, series.statistic)
    return dict(zip(SERIES, values, strict=True))


#: Functions that return the records of a run, one for each row of a frame.
_FRAMES: Mapping[str, Callable[[RunResult], Iterable[dict[str, Any]]]] = {
    "totals": lambda run: [_numbers_of(run.totals)],
    "vcs": lambda run: ({"vc": name, **_numbers_of(vc)} for name, vc in run.vcs.items()),
    "transfers": lambda run: (
        {"vc": name, **_numbers_of(transfer)} for name, vc in run.vcs.items() for transfer in vc.transfers
    ),
    "ports": lambda run: ({"port": name, **_numbers_of(port)} for name, port in run.ports.items()),
    "classes": lambda run: ({"class": name, **_numbers_of(service)} for name, service in run.classes.items()),
    "series": lambda run: map(_head, run.series),
}
