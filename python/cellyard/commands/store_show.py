"""What is in a store: the command ``cellyard store show``."""

from __future__ import annotations

from pathlib import Path

from cellyard import _engine
from cellyard.show.text import csv_text, dump, table
from cellyard.store import open_store
from cellyard.store.contents import Group, builds, date, groups
from cellyard.system.terminal import printable


def command(path: Path, *, output_format: str) -> int:
    """Print the runs by scenario name and engine."""
    with open_store(path) as store:
        with store.snapshot():
            found = groups(store)
        size = store.path.stat().st_size
    of_builds = builds(found)
    records = [_record(group) for group in found]
    if output_format == "csv":
        print(csv_text(records), end="")
    elif output_format == "json":
        document = {"store": str(store.path), "bytes": size, "engine_build": _engine.build(), "groups": records}
        print(dump(document))
    else:
        total = sum(group.runs for group in found)
        print(printable(f"{store.path}: {total} run{'s' * (total != 1)}, {size / 1e6:.1f} MB"))
        if of_builds:
            here = {True: "; this engine is one of them", False: "; this engine is none of them"}
            ours = _engine.build() in of_builds
            print(f"builds of the engine: {', '.join(of_builds)}{here[ours] if len(of_builds) > 1 or not ours else ''}")
            head = ["scenario", "engine", "scenarios", "runs", "first", "last", "CPU s", "kB per run"]
            print()
            print(table(head, [_line(group) for group in found]))
    return 0


def _record(group: Group) -> dict[str, object]:
    return {
        "scenario_name": group.name,
        "engine_build": group.engine,
        "scenarios": group.scenarios,
        "runs": group.runs,
        "first": date(group.first_s),
        "last": date(group.last_s),
        "cpu_s": group.cpu_s,
        "bytes": group.bytes,
    }


def _line(group: Group) -> list[object]:
    dates = [date(seconds)[:16].replace("T", " ") for seconds in (group.first_s, group.last_s)]
    each = round(group.bytes / group.runs / 1e3, 1)
    return [printable(group.name), group.engine, group.scenarios, group.runs, *dates, group.cpu_s, each]
