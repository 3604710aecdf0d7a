"""Measure how much the assumptions of a study matter.

Runs the rows of the study with each alternative that `[[assumed]]` lists under `alternatives`. For
each alternative, prints the mean absolute error against the published values and the mean absolute
change of the rows. The `effect` lines of study.toml are written from this output.

A path `tcp.OPTION` sets that option of every TCP, and `udp.OPTION` that of every UDP. A path that
begins with the name of a recovery (`reno.OPTION`) sets the option of every TCP with this recovery.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, get_args, get_type_hints

from cellyard.components import Tcp
from cellyard.scenario import Scenario
from cellyard.show.table import Table
from cellyard.store import FILE_NAME, Store
from cellyard.study import Row, Rows, Study, load, select
from cellyard.study.agreement import agreement, told_metrics
from cellyard.study.reproduce import Reproduction
from cellyard.system.files import writable_folder

#: Names of the TCP recoveries, from the registry.
RECOVERIES = get_args(get_type_hints(Tcp)["recovery"])


class Altered(Study):
    """A study with some values of its scenarios replaced."""

    overrides: Sequence[tuple[str, str]] = ()

    def scenario(self, row: Row) -> Scenario:
        """Return the row's scenario with the overrides of this study."""
        plain = super().scenario(row)
        sources = {vc["name"]: vc["traffic"] for vc in plain.to_dict()["vcs"]}
        overrides = []
        for path, value in self.overrides:
            group, _, option = path.partition(".")
            if group in ("tcp", "udp", *RECOVERIES):
                chosen = [name for name, source in sources.items() if group in (source["kind"], source.get("recovery"))]
                overrides += [(f"vc.{name}.traffic.{option}", value) for name in chosen]
            else:
                overrides.append((path, value))
        return Scenario.from_toml(plain.to_toml(), overrides=overrides)


def altered(study: Study, overrides: Sequence[tuple[str, str]]) -> Study:
    """Return ``study`` with values replaced in every scenario."""
    other = Altered(study.name, study.folder, study.info)
    object.__setattr__(other, "overrides", overrides)
    return other


def alternatives(study: Study) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the study unchanged, then with each alternative."""
    yield "as assumed", []
    for item in study.info.get("assumed", ()):
        for change in item.get("alternatives", ()):
            yield ", ".join(f"{k} = {v}" for k, v in change.items()), list(change.items())


def main() -> int:
    """Run and print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study")
    parser.add_argument("--table", action="append", default=[])
    parser.add_argument("--where", action="append", default=[], help="KEY=VALUE")
    parser.add_argument("--replications", type=int, default=10)
    parser.add_argument("--only", default="", help="only alternatives whose text contains this")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    study = load(options.study)
    rows = select(
        study, options.table, [(key, value) for key, _, value in (text.partition("=") for text in options.where)]
    )
    metrics = told_metrics(study)
    body = []
    base: Rows | None = None
    with Store(writable_folder(options.out) / FILE_NAME) if options.out else nullcontext() as store:
        for name, overrides in alternatives(study):
            if base is not None and options.only not in name:
                continue
            reproduction = Reproduction(altered(study, overrides), rows, replications=options.replications)
            for _ in reproduction.advance(store=store):
                pass
            if store and store.failure:
                raise SystemExit(f"{store.failure.filename}: cannot be written: {store.failure.strerror}")
            found = reproduction.rows
            base = base or found
            body.append([name, *metric_values(found, base, metrics)])
            print(*body[-1], file=sys.stderr)
    header = ["alternative", *(f"{m} {value}" for m in metrics for value in ("error", "change", "mean", "rank"))]
    print(Table.from_rows(header, body))
    return 0


def metric_values(rows: Rows, base: Rows, metrics: Sequence[str]) -> Iterator[Any]:
    """Return error, change, mean and rank correlation of each metric."""
    for metric in metrics:
        judged: Mapping[str, Any] = agreement(rows, metric)
        pairs = [(row.simulated[metric], other.simulated[metric]) for row, other in zip(rows, base, strict=True)]
        # A metric that an alternative leaves undefined is not counted, such as fairness when
        # nothing was delivered.
        defined = [(value, base_value) for value, base_value in pairs if value is not None and base_value is not None]
        yield judged["mean_abs_error"]
        yield sum(abs(value - base_value) for value, base_value in defined) / len(defined)
        yield sum(value for value, _ in defined) / len(defined)
        yield judged["rank_correlation"]


if __name__ == "__main__":
    sys.exit(main())
