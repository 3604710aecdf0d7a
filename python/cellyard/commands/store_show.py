"""The command ``cellyard store show``: lists what is in a store."""

from pathlib import Path

from cellyard import _engine
from cellyard.show.table import Column, Table, field
from cellyard.show.text import dump
from cellyard.store import open_store
from cellyard.store.contents import Group, builds_of_groups, groups, utc_date
from cellyard.system.terminal import printable

#: Columns of the printed table.
COLUMNS = (
    Column("scenario", lambda group: printable(group["scenario_name"])),
    field("engine_build", "engine"),
    field("scenarios"),
    field("runs"),
    Column("first", lambda group: _minute(group["first"])),
    Column("last", lambda group: _minute(group["last"])),
    field("cpu_s", "CPU s"),
    Column("kB per run", lambda group: round(group["bytes"] / group["runs"] / 1e3, 1)),
)


def command(path: Path, *, output_format: str) -> int:
    """Print the runs by scenario name and engine."""
    with open_store(path) as store:
        with store.snapshot():
            found = groups(store)
        size = store.path.stat().st_size
    of_builds = builds_of_groups(found)
    table = Table([_record(group) for group in found], COLUMNS)
    if output_format == "csv":
        print(table.csv(), end="")
    elif output_format == "json":
        document = {"store": str(store.path), "bytes": size, "engine_build": _engine.build(), "groups": table.records}
        print(dump(document))
    else:
        total = sum(group.runs for group in found)
        print(printable(f"{store.path}: {total} run{'s' * (total != 1)}, {size / 1e6:.1f} MB"))
        if of_builds:
            hint = {True: "; this engine's build is one of them", False: "; this engine's build is not among them"}
            is_here = _engine.build() in of_builds
            print(
                f"builds of the engine: {', '.join(of_builds)}{hint[is_here] if len(of_builds) > 1 or not is_here else ''}"
            )
            print(f"\n{table}")
    return 0


def _record(group: Group) -> dict[str, object]:
    return {
        "scenario_name": group.name,
        "engine_build": group.engine,
        "scenarios": group.scenarios,
        "runs": group.runs,
        "first": utc_date(group.first_s),
        "last": utc_date(group.last_s),
        "cpu_s": group.cpu_s,
        "bytes": group.bytes,
    }


def _minute(instant: str) -> str:
    return instant[:16].replace("T", " ")
