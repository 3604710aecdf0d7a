"""The command ``cellyard store diff``: shows what changed between two engines."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from cellyard.show.table import Table
from cellyard.show.text import dump
from cellyard.store import open_store
from cellyard.store.compare import ChangedNumber, Comparison, changed_numbers, last_builds
from cellyard.system.terminal import printable


def command(path: Path, *, scenario: str | None, output_format: str) -> int:
    """Print which numbers differ in the later build, and by how much."""
    with open_store(path) as store, store.snapshot():
        comparison = Comparison(*last_builds(store))
        found = list(changed_numbers(store, comparison, name=scenario))
    if output_format == "csv":
        print(Table.from_records([_record(number) for number in found]).csv(), end="")
    elif output_format == "json":
        print(dump({**asdict(comparison), "moved": [_record(number) for number in found]}))
    else:
        print(_text(comparison, found))
    return 0


def _record(number: ChangedNumber) -> dict[str, object]:
    return {
        "scenario": number.run.scenario.hex(),
        "scenario_name": number.run.name,
        "seed": number.run.seed,
        "replication": number.run.replication,
        "path": number.path,
        "before": number.before,
        "after": number.after,
    }


def _text(comparison: Comparison, found: Sequence[ChangedNumber]) -> str:
    runs = len({number.run.hash for number in found})
    lines = [
        f"{comparison.before} -> {comparison.after}: {comparison.both} runs in both builds, {comparison.numbers} numbers compared",
        f"{len(found)} numbers changed, in {runs} runs" if found else "no number changed",
    ]
    for build, count in ((comparison.before, comparison.only_before), (comparison.after, comparison.only_after)):
        lines += [f"{count} runs exist only for {build} and are not compared"] if count else []
    lines += [f"{comparison.apart} runs have no kind of result that both builds stored"] if comparison.apart else []
    kinds: dict[str, list[ChangedNumber]] = {}
    for number in found:
        kinds.setdefault(number.kind, []).append(number)
    head = ["number", "changed", "runs", "largest change", "from", "to", "relative", "in"]
    body = [_line(kind, members) for kind, members in kinds.items()]
    return "\n".join(lines) + (f"\n\n{Table.from_rows(head, body)}" if body else "")


def _line(kind: str, members: Sequence[ChangedNumber]) -> list[object]:
    """A line of the table: counts of changed numbers and runs, and the largest relative change."""
    most = max(members, key=lambda number: (abs(number.relative), abs(number.change)))
    run = most.run
    draw = "" if run.replication is None else f", replication {run.replication}"
    is_new_or_gone = most.before is None or most.after is None
    numbers = (
        [None, most.before, most.after, None]
        if is_new_or_gone
        else [most.change, most.before, most.after, most.relative]
    )
    example = printable(f"{run.name}, seed {run.seed}{draw}: {most.path}")
    return [kind, len(members), len({number.run.hash for number in members}), *numbers, example]
