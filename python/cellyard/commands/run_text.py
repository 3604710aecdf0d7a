"""Text that ``cellyard run`` prints: VCs, ports and classes of a run, or one line per point of a grid."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from cellyard.results.document import queueing_ports
from cellyard.results.run_notes import carries_frames, is_overloaded
from cellyard.results.transfers import LONGEST, QUANTILES
from cellyard.show.table import Table
from cellyard.show.text import ALL_EQUAL, INTERVAL, cell_count, cpu_time, format_range, format_value
from cellyard.statistics.bounded import Bounded, Value, ends_of, field_value, known
from cellyard.statistics.difference import FEWEST
from cellyard.statistics.ranges import mean
from cellyard.statistics.student import CONFIDENCE

#: Totals shown for runs with VCs that carry frames.
FRAME_TOTALS = (
    "goodput_mbps",
    "efficiency",
    "fairness",
    "cell_loss_ratio",
    "frame_loss_ratio",
    "max_queue_cells",
    "retransmitted_segments",
    "timeouts",
)

#: Of these, totals that the sizes of files and the duration decide if all VCs send files that end.
DEMANDED = frozenset({"goodput_mbps", "efficiency", "max_goodput_mbps", "fairness"})

#: Totals shown first if VCs send files, and those that several runs of a point have for all files together.
POOLED = ("finished_transfers", "unfinished_transfers", *QUANTILES)
FILE_TOTALS = (*POOLED, "busy_goodput_mbps")

#: Totals shown if every VC carries single cells. The other totals are about frames, and 0.
CELL_TOTALS = ("cell_loss_ratio", "max_queue_cells", "mean_cell_transfer_delay_s", "p99_cell_transfer_delay_s")

#: Columns of the table of VCs, with their fields. `TCP_COLUMNS` are those that only TCP has.
VC_COLUMNS = {
    "vc": "name",
    "from": "from",
    "to": "to",
    "traffic": "traffic",
    "goodput_mbps": "goodput_mbps",
    "throughput_mbps": "throughput_mbps",
    "cells_sent": "cells_sent",
    "cells_dropped": "cells_dropped",
    "cell_loss_ratio": "cell_loss_ratio",
}
#: Column shown for VCs with a contract, which has the unit of contracts, and for UDP, whose offered
#: rate has it too.
LINE_THROUGHPUT = "throughput_mbps"
#: Column shown next to the cell loss ratio if VCs carry frames.
FRAME_COLUMNS = {"frame_loss_ratio": "frame_loss_ratio"}
TCP_COLUMNS = {"segments": "segments", "retransmitted": "retransmitted_segments", "timeouts": "timeouts"}

#: Delay columns of a VC.
VC_DELAYS = ("mean_cell_transfer_delay_s", "p99_cell_transfer_delay_s")

#: Columns shown for VCs that send files.
FILE_COLUMNS = ("began_s", "completed_s", "file_goodput_mbps")

#: Further columns if a VC has sent several files.
TRANSFER_COLUMNS = ("finished_transfers", "p50_transfer_s", "p95_transfer_s")

#: Columns of each VC of an ensemble (`timeouts` only with TCPs), and the limit on lines of that table.
ENSEMBLE_COLUMNS = ("goodput_mbps", LINE_THROUGHPUT, "cell_loss_ratio", "timeouts", "mean_cell_transfer_delay_s")
MOST_VCS = 20

#: Caption of tables over several runs.
MEANS = f"means of the runs, {INTERVAL}s"

#: Limit on lines of the table of files of several runs.
MOST_FILES = 20

#: Limit on lines of the table of losses by VC.
MOST_DROPS = 20


def text(document: Mapping[str, Any], *, contracts: bool = False, fair_shares: bool = False, noun: str = "cell") -> str:
    """The runs, summarised if there are several.

    ``contracts`` says whether VCs have contracts. With ``fair_shares``, efficiency is relative to
    fair shares, whose sum is shown. ``noun`` is what a reader calls a cell.
    """
    runs = document["runs"]
    if not runs:
        return "no run has finished"
    cells = cell_count(document["cells"], f"{noun}s") + " (each counts as one cell)" * (noun != "cell")
    cost = f"{cells}, {cpu_time(document['timing']['cpu_seconds'], 2)}"
    if len(runs) == 1:
        first = f"{runs[0]['name']}: {runs[0]['duration_s']:g} s simulated, {cost}"
        return "\n\n".join(
            [
                first,
                *_measuring_time_note(runs),
                _single_run(runs[0], contracts=contracts, fair_shares=fair_shares, noun=noun),
            ]
        )
    paths = list(runs[0].get("set", {}))
    document = {**document, **{part: _with_labels(document[part], paths) for part in ("runs", "summary")}}
    runs = document["runs"]
    ranged = document["replications"] is not None
    shown = [m for m in _total_names(runs[0], fair_shares=fair_shares) if not (ranged and m in POOLED)]
    means = [partial(field_value, point["mean"].get) for point in document["summary"]]
    metrics = [m for m in shown if any(mean_of_point(m) is not None for mean_of_point in means)]
    counts = {m for m in metrics if all(isinstance(run["totals"][m] or 0, int) for run in runs)}
    header = [
        *paths,
        "runs",
        *(column for m in metrics for column in ([_column_head(m), INTERVAL] if ranged else [_column_head(m)])),
    ]
    rows = []
    for point, mean_of_point in zip(document["summary"], means, strict=True):
        row = [*(point["set"][path] for path in paths), point["runs"]]
        for metric in metrics:
            is_count = metric in counts
            row.append(format_value(_in_unit(metric, mean_of_point(metric)), is_count=is_count))
            if ranged:
                ends = [_in_unit(metric, end) for end in point["interval"][metric] or ()]
                values = {field_value(run["totals"].get, metric) for run in runs if run.get("set", {}) == point["set"]}
                is_equal = len(values) == 1 < point["runs"] and mean_of_point(metric) is not None
                row.append(ALL_EQUAL if is_equal else format_range(ends, is_count=is_count))
        rows.append(row)
    caption = f"{MEANS}:\n" if ranged else ""
    first = f"{document['scenario']}: {len(runs)} runs, {cost}"
    parts = [first, *_measuring_time_note(runs), f"{caption}{Table.from_rows(header, rows, keys=len(paths) + 1)}"]
    if not paths:
        parts += _ensemble_vcs(runs, contracts=contracts)
    if ranged:
        parts += files_table(document["summary"], paths)
    parts += _files(runs, paths=paths, is_ranged=ranged)
    return "\n\n".join([*parts, *_drops(runs, paths, noun)])


def _with_labels(things: Sequence[Mapping[str, Any]], paths: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Runs or points whose values at ``paths`` are replaced by labels, as short as keeps them distinct."""
    if not paths:
        return things
    labels = {path: _labels([str(thing["set"][path]) for thing in things]) for path in paths}
    return [{**thing, "set": {path: labels[path][str(thing["set"][path])] for path in paths}} for thing in things]


def _labels(values: Sequence[str]) -> Mapping[str, str]:
    """A label for each value: a component's name if it is unique among the values.

    >>> _labels(['{ policy = "fba", z = 0.5 }', "epd"])
    {'{ policy = "fba", z = 0.5 }': 'fba', 'epd': 'epd'}
    >>> list(_labels(['{policy="fba", z=0.5}', '{policy="fba", z=0.8}']).values())
    ['{policy="fba", z=0.5}', '{policy="fba", z=0.8}']
    """
    short = {value: _component(value) or value for value in values}
    return short if len(set(short.values())) == len(short) else {value: value for value in values}


def _component(value: str) -> str | None:
    """The name of the component that a TOML value describes."""
    if not value.startswith("{"):
        return None
    import tomllib

    try:
        fields = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return None
    return next((str(fields[tag]) for tag in ("policy", "kind", "what") if tag in fields), None)


def _measuring_time_note(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which values cover the measuring time and which the whole run, if these differ."""
    if all(run["measured_s"] == run["duration_s"] for run in runs):
        return []
    measured = [f"{seconds:g}" for seconds in sorted({run["measured_s"] for run in runs})]
    time = f"{measured[0]} s" if len(measured) == 1 else f"{measured[0]} to {measured[-1]} s"
    return [
        f"goodput, efficiency, fairness and delays cover the measuring time ({time}); all other values cover the whole run"
    ]


def _ensemble_vcs(runs: Sequence[Mapping[str, Any]], *, contracts: bool) -> list[str]:
    """One line for each VC of an ensemble, up to a screenful, since totals hide who gets what."""
    vcs = list(zip(*(run["vcs"] for run in runs), strict=True))
    kinds = {vc_runs[0]["traffic"] for vc_runs in vcs}
    left_out = {"timeouts": "tcp" not in kinds, LINE_THROUGHPUT: not (contracts or "udp" in kinds)}
    shown = [metric for metric in ENSEMBLE_COLUMNS if not left_out.get(metric)]
    rows = []
    for vc_runs in vcs[:MOST_VCS]:
        row = [vc_runs[0]["name"], vc_runs[0]["traffic"]]
        for metric in shown:
            row += _mean_and_interval_text(metric, [vc[metric] for vc in vc_runs if vc[metric] is not None])
        rows.append(row)
    head = ["vc", "traffic", *(column for metric in shown for column in (_column_head(metric), INTERVAL))]
    parts = [f"VCs, {MEANS}:\n{Table.from_rows(head, rows, keys=2)}"] if rows else []
    more = len(vcs) - MOST_VCS
    return [*parts, *([f"{more} more VCs: --out DIR writes all of them to vcs.csv"] if more > 0 else [])]


def mean_and_interval(metric: str, values: Sequence[Value]) -> tuple[Value, tuple[float, float] | None]:
    """Mean of a total or of a VC's values over several runs, and its interval, if it has one."""
    from cellyard.experiment.metric_kind import mean_of
    from cellyard.results import Totals
    from cellyard.results.path import metric_path

    if not known(values):
        return mean(values), None  # type: ignore[arg-type]
    found = mean_of(
        metric_path(f"totals.{metric}" if metric in Totals.numbers() else f"max(vc.*.{metric})"), values, CONFIDENCE
    )
    if found is None:
        return None, None
    return found.mean, None if found.low is None or found.high is None else (found.low, found.high)


def _mean_and_interval_text(metric: str, values: Sequence[Value]) -> list[str]:
    """Mean and interval in the unit of the column."""
    is_count = all(isinstance(value, int) for value in values)
    centre, ends = mean_and_interval(metric, values)
    shown = format_range([_in_unit(metric, end) for end in ends or ()], is_count=is_count)
    if len(values) > 1 and known(values) and min(values) == max(values):
        shown = ALL_EQUAL
    return [format_value(_in_unit(metric, centre), is_count=is_count), shown]


def _files(runs: Sequence[Mapping[str, Any]], *, paths: Sequence[str], is_ranged: bool) -> list[str]:
    """One line for each VC with a file at each point: in how many runs it was completed, and its values.

    If ``is_ranged``, shows means over the runs with intervals; otherwise the values of the single run.
    """
    found: dict[str, tuple[list[Any], list[Mapping[str, Any]]]] = {}
    for run in runs:
        values = [run.get("set", {})[path] for path in paths]
        for vc in filter(_has_file, run["vcs"]):
            found.setdefault(json.dumps([*values, vc["name"]]), ([*values, vc["name"]], []))[1].append(vc)
    if not found:
        return []
    all_files = [vc for _, files in found.values() for vc in files]
    shown = _file_metrics(all_files)
    # Endless files are never complete. For them, the transfers show what was sent.
    counted = is_ranged and not (TRANSFER_COLUMNS[0] in shown and "completed_s" not in shown)
    if not counted:
        shown = [metric for metric in shown if not is_ranged or metric in TRANSFER_COLUMNS]
    columns = [
        column
        for metric in shown
        for column in ([_column_head(metric), INTERVAL] if is_ranged else [_column_head(metric)])
    ]
    rows = []
    for keys, files in found.values():
        if not is_ranged:
            rows.append([*keys, *(_in_unit(metric, field_value(files[0].get, metric)) for metric in shown)])
            continue
        complete = sum(file["completed_s"] is not None for file in files)
        row = [*keys, *([f"{complete} of {len(files)}"] if counted else [])]
        for metric in shown:
            measured = (field_value(file.get, metric) for file in files)
            row += _mean_and_interval_text(metric, [value for value in measured if value is not None])
        rows.append(row)
    if len(rows) > MOST_FILES:
        return [f"{len(rows)} VCs with files: --out DIR writes all of them to vcs.csv"]
    table = Table.from_rows([*paths, "vc", *(["complete"] if counted else []), *columns], rows, keys=len(paths) + 1)
    caption = f"files, {MEANS}:\n" if is_ranged else ""
    return [f"{caption}{table}"]


def files_table(points: Sequence[Mapping[str, Any]], paths: Sequence[str]) -> list[str]:
    """Quantiles of the files of all runs of each point, with their intervals."""
    rows = []
    for point in points:
        found = point["files"]
        if found is None:
            continue
        row = [*(point["set"][path] for path in paths), found["finished_transfers"], found["unfinished_transfers"]]
        for name in QUANTILES:
            row.append(_in_unit(name, field_value(found.get, name)))
            if name != LONGEST:
                row.append(
                    _interval(name, field_value(found.get, f"{name}_low"), field_value(found.get, f"{name}_high"))
                )
        rows.append(row)
    if not rows:
        return []
    heads = [head for name in QUANTILES for head in (_column_head(name), INTERVAL)][:-1]
    few = f"; an interval needs {FEWEST} replications" if all(point["runs"] < FEWEST for point in points) else ""
    table = Table.from_rows([*paths, "finished", "unfinished", *heads], rows, keys=len(paths))
    return [f"files of all VCs and runs together{few}:\n{table}"]


def _interval(name: str, low: Value, high: Value) -> str:
    """An interval, whose upper end is not known above the longest duration; empty without one."""
    if low is None:
        return ""
    ends = Bounded(ends_of(low)[0], math.inf if high is None else ends_of(high)[1])
    if math.isinf(ends.high):
        return format_value(_in_unit(name, ends))
    return format_range((_in_unit(name, ends.low), _in_unit(name, ends.high)))


def unwritten(runs: Sequence[Mapping[str, Any]]) -> str:
    """What the table omits and no file contains."""
    series = [series for run in runs for series in run["series"]]
    if not series:
        return ""
    points = sum(len(recorded["value"]) for recorded in series)
    return f"{len(series)} series with {points} points: --out DIR writes them, --plot FILE draws those of a single run"


def _single_run(run: Mapping[str, Any], *, contracts: bool, fair_shares: bool, noun: str) -> str:
    names = _total_names(run, fair_shares=fair_shares)
    totals = {m: value for m in names if (value := field_value(run["totals"].get, m)) is not None}
    shown = {_column_head(m): _in_unit(m, value) for m, value in totals.items()}
    if not _has_frames(run):
        shown = {"goodput_of_cells_mbps": sum(vc["goodput_mbps"] for vc in run["vcs"]), **shown}
    parts = [
        "  ".join(f"{name} {format_value(value)}" for name, value in shown.items()),
        _vcs(run["vcs"], contracts=contracts),
    ]
    if ports := [port for port in queueing_ports(run) if port["can_queue"] and port["arrived_cells"]]:
        parts += _ports(ports)
        if run["measured_s"] < run["duration_s"]:
            parts.append(_measured_ports(ports))
    if pools := [pool for pool in run.get("pools", ()) if pool["ports"]]:
        parts.append(_pools(pools))
    parts += _end_systems(run["vcs"])
    parts += _drops([run], [], noun)
    if len(run["classes"]) > 1:
        heads = list(map(_column_head, run["classes"][0]))
        rows = [[_in_unit(name, value) for name, value in of_class.items()] for of_class in run["classes"]]
        parts.append(str(Table.from_rows(heads, rows, keys=1)))
    return "\n\n".join(parts)


def _vcs(vcs: Sequence[Mapping[str, Any]], *, contracts: bool) -> str:
    of_tcp = TCP_COLUMNS if any(vc["traffic"] == "tcp" for vc in vcs) else {}
    left = {"not_sent": "cells_not_sent"} if any(map(is_overloaded, vcs)) else {}
    of_files = {_column_head(metric): metric for metric in _file_metrics(vcs)}
    of_frames = FRAME_COLUMNS if any(map(carries_frames, vcs)) else {}
    columns = {
        **VC_COLUMNS,
        **of_frames,
        **left,
        **of_tcp,
        **of_files,
        **{_column_head(delay): delay for delay in VC_DELAYS},
    }
    if not (contracts or any(vc["traffic"] == "udp" for vc in vcs)):
        del columns[LINE_THROUGHPUT]

    def value(vc: Mapping[str, Any], key: str) -> Any:
        return _in_unit(key, field_value(vc.get, key)) if key not in of_files.values() or _has_file(vc) else None

    return str(Table.from_rows(list(columns), [[value(vc, key) for key in columns.values()] for vc in vcs], keys=1))


def _drops(runs: Sequence[Mapping[str, Any]], paths: Sequence[str], noun: str) -> list[str]:
    """Losses of VCs by port and reason, averaged over several runs, up to a screenful of lines.

    One line for each VC and port, largest losses first. A grid has one for each point and port,
    over all VCs.
    """
    points: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        points.setdefault(json.dumps(run.get("set", {})), []).append(run)
    names = [*(paths or ["vc"]), "port"]
    places = [place for members in points.values() for place in _losses(members, names)]
    if not places:
        return []
    if not paths:
        lost_by_vc: Counter[str] = Counter()
        for (vc, _), counts in places:
            lost_by_vc[vc] += sum(counts.values())  # type: ignore[assignment]
        places.sort(key=lambda place: lost_by_vc[place[0][0]], reverse=True)
    reasons = [reason for reason in places[0][1] if any(counts[reason] for _, counts in places)]
    rows = [
        [*keys, *(format_value(n, is_count=True) for n in (sum(counts.values()), *map(counts.get, reasons)))]
        for keys, counts in places[:MOST_DROPS]
    ]
    head = [*names, "all", *reasons]
    title = f"data {noun}s dropped, in all and by reason{', means of the runs' * (len(runs) > len(points))}:\n"
    left = places[MOST_DROPS:]
    lost = format_value(sum(sum(counts.values()) for _, counts in left), is_count=True)
    more = f"{len(left)} more lines with {lost} {noun}s: --out DIR writes all of them to vc_ports.csv"
    return [f"{title}{Table.from_rows(head, rows, keys=len(names))}", *([more] if left else [])]


def _losses(runs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[tuple[list[Any], dict[str, float]]]:
    """Cells lost by reason, as means over the runs of a point, for each combination of ``names`` with losses."""
    found: dict[str, tuple[list[Any], Counter[str]]] = {}
    for run in runs:
        for vc in run["vcs"]:
            for passed in vc["ports"]:
                known = {**run.get("set", {}), "vc": vc["name"], "port": passed["port"]}
                keys = [known[name] for name in names]
                found.setdefault(json.dumps(keys), (keys, Counter()))[1].update(passed["dropped_cells"])
    return [
        (
            keys,
            {reason: count / len(runs) if len(runs) > 1 else count for reason, count in counts.items()},
        )
        for keys, counts in found.values()
        if counts.total()
    ]


def _end_systems(vcs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Counters of the ABR end systems that send data."""
    senders = [(vc["name"], vc["end_systems"][0]) for vc in vcs if vc["end_systems"]]
    if not senders:
        return []
    return [str(Table.from_rows(["vc", *senders[0][1]], [[name, *end.values()] for name, end in senders], keys=1))]


def _ports(every: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ports at which a cell waited or was dropped, and the number of the others."""
    ports = [port for port in every if port["max_queue_cells"] or any(port["dropped_cells"].values())]
    others = len(every) - len(ports)
    idle = f"{others} {'other ' * bool(ports)}port{'s' * (others > 1)} at which no cell waited: --out DIR writes all to ports.csv"
    return [*([_port_table(ports)] if ports else []), *([idle] if others else [])]


def _port_table(ports: Sequence[Mapping[str, Any]]) -> str:
    reasons = list(ports[0]["dropped_cells"])
    # Shown next to utilisation to reveal wasted transmissions. ACKs and single cells have no
    # efficiency.
    of_frames = ["efficiency"] if any(port["efficiency"] is not None for port in ports) else []
    of_ties = ["tied_refusals"] if any(port.get("tied_refusals") for port in ports) else []
    of_places = ["max_queue_places"] if any(port.get("max_queue_places") for port in ports) else []
    measures = ["max_queue", *of_places, "mean_queue", "utilisation"]
    means = ["mean_rate_mbps"] if any(port.get("mean_rate_mbps") for port in ports) else []
    head = ["port", "rate_mbps", *means, "sent_cells", *reasons, *of_ties, *measures, *of_frames]
    rows = [
        [
            port["name"],
            port["rate_mbps"],
            *(port[name] or port["rate_mbps"] for name in means),
            port["sent_cells"],
            *port["dropped_cells"].values(),
            *(port.get(name) for name in of_ties),
            port["max_queue_cells"],
            *(port[name] for name in of_places),
            port["mean_queue_cells"],
            port["utilisation"],
            *(port[name] for name in of_frames),
        ]
        for port in ports
    ]
    return str(Table.from_rows(head, rows, keys=1))


def _pools(pools: Sequence[Mapping[str, Any]]) -> str:
    """What each pool holds at most and in the mean, in its places."""
    head = ["pool", "place", "buffer", "reserved", "max_used", "mean_used", "tied_refusals"]
    rows = [
        [
            pool["switch"],
            pool["place"],
            *(pool[f"{name}_places"] for name in ("buffer", "reserved", "max_used", "mean_used")),
            sum(port["tied_refusals"] for port in pool["ports"]),
        ]
        for pool in pools
    ]
    return str(Table.from_rows(head, rows, keys=2))


def _measured_ports(ports: Sequence[Mapping[str, Any]]) -> str:
    """Port values that cover only the measuring time."""
    fields = [name for name in ports[0] if name.startswith("measured_")]
    short = {"max_queue_cells": "max_queue", "mean_queue_cells": "mean_queue"}
    names = [name.removeprefix("measured_") for name in fields]
    rows = [[port["name"], *(port[name] for name in fields)] for port in ports]
    head = ["port", *(short.get(name, name) for name in names)]
    return f"ports, in the measuring time only:\n{Table.from_rows(head, rows, keys=1)}"


def _has_file(vc: Mapping[str, Any]) -> bool:
    return vc["file_size_bytes"] is not None


def _has_end(vc: Mapping[str, Any]) -> bool:
    """Whether a VC sends a number of files, not endless data."""
    return vc["completed_s"] is not None or vc["completed_s_above"] is not None


def _file_metrics(vcs: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """Columns shown for the files of VCs: each metric that any VC has."""
    several = any(vc["finished_transfers"] > 1 for vc in vcs)
    metrics = (*FILE_COLUMNS, *TRANSFER_COLUMNS) if several else FILE_COLUMNS
    return [
        metric for metric in metrics if any(_has_file(vc) and field_value(vc.get, metric) is not None for vc in vcs)
    ]


def _has_frames(run: Mapping[str, Any]) -> bool:
    return any(map(carries_frames, run["vcs"]))


def _total_names(run: Mapping[str, Any], *, fair_shares: bool) -> Sequence[str]:
    if not _has_frames(run):
        return CELL_TOTALS
    place = FRAME_TOTALS.index("efficiency") + 1
    names = [*FRAME_TOTALS[:place], *["max_goodput_mbps"] * fair_shares, *FRAME_TOTALS[place:]]
    if any(map(_has_file, run["vcs"])):
        ends = all(_has_end(vc) for vc in run["vcs"] if carries_frames(vc))
        return [*FILE_TOTALS, *(name for name in names if not (ends and name in DEMANDED))]
    return names


def _column_head(metric: str) -> str:
    """Head of a metric's column. Times are shown in milliseconds."""
    short = metric.replace("_cell_transfer_delay_s", "_delay_s")
    return short.removesuffix("_s") + "_ms" if short.endswith("_s") else metric


def _in_unit(metric: str, value: Any) -> Any:
    """Convert a value to the unit of its `_column_head`."""
    return 1e3 * value if metric.endswith("_s") and isinstance(value, (float, Bounded)) else value
