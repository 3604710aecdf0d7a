"""A table of records and its formats: terminal, HTML, Markdown, CSV."""

from __future__ import annotations

import csv
import io
import itertools
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from cellyard.show.text import INTERVAL, PIECE_ITEMS, RANGE_HEADS, format_value

#: A number, a bound, a difference, a range, a starred number, or nothing.
_PLAIN = r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?"
_NUMBER = re.compile(rf"((?:[<>] )?{_PLAIN}(\.\.{_PLAIN})?\*?)?$")

#: Heads of columns that belong to the previous column.
_ATTACHED_HEADS = frozenset({*RANGE_HEADS, INTERVAL, "published", "diff"})

#: Characters that Markdown would read as markup. Underscores within a word are plain.
_MARKUP = re.compile(r"[\\`*~|$]|(?<=\])\(|(?<![^\W_])_|_(?![^\W_])")


@dataclass(frozen=True)
class Column:
    """A column: its head, the value it shows of a record, and the CSS class of that value in HTML, if any.

    Values other than text are formatted by `format_value`.
    """

    head: str
    value: Callable[[Any], Any]
    css_class: Callable[[Any], str] = lambda _: ""


def field(name: str, head: str = "", *, is_count: bool = False) -> Column:
    """A column of one field of mappings, empty if a record lacks it; ``head`` defaults to the name."""
    return Column(head or name, lambda record: format_value(record.get(name), is_count=is_count))


@dataclass(frozen=True, eq=False)
class Table:
    """Records and the columns that show them.

    The first ``keys`` columns identify a record. ``begins``, called with the previous record and
    this one, says whether a group begins, above which HTML draws a line. `csv` needs records that
    are mappings, and writes all their fields in full.
    """

    records: Sequence[Any]
    columns: Sequence[Column]
    keys: int | None = None
    starts_group: Callable[[Any, Any], bool] = lambda _before, _record: False

    @classmethod
    def from_records(cls, records: Sequence[Mapping[str, Any]]) -> Table:
        """A table with a column for each field of the records, in order of appearance.

        >>> print(Table.from_records([{"policy": "epd", "efficiency": 0.5}, {"policy": "fba"}]))
        policy  efficiency
        ------  ----------
        epd          0.500
        fba
        """
        names = dict.fromkeys(name for record in records for name in record)
        return cls(records, [field(name) for name in names])

    @classmethod
    def from_rows(cls, head: Sequence[str], rows: Iterable[Sequence[Any]], keys: int | None = None) -> Table:
        """A table of rows with one value per column; heads may repeat."""
        columns = [Column(name, itemgetter(place)) for place, name in enumerate(head)]
        return cls(list(rows), columns, keys)

    def first(self, most: int) -> Table:
        """The table with its first records only."""
        return replace(self, records=self.records[:most])

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Aligned columns for a terminal: numbers to the right, text to the left.

        With ``keys``, a table wider than ``width`` is folded into several, each with the key
        columns. ``width`` defaults to that of the terminal; output to anything else is not folded.
        """
        heads, cells, right = self._formatted()
        widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
        if width is None and sys.stdout and sys.stdout.isatty():
            width = shutil.get_terminal_size().columns
        whole = self.keys is None or width is None
        parts = [range(len(heads))] if whole else _folds(heads, widths, self.keys or 0, width or 0)

        def line(texts: Sequence[str], part: Iterable[int]) -> str:
            padded = (texts[i].rjust(widths[i]) if right[i] else texts[i].ljust(widths[i]) for i in part)
            return "  ".join(padded).rstrip()

        lines = [heads, ["-" * width for width in widths], *cells]
        return "\n\n".join("\n".join(line(texts, part) for texts in lines) for part in parts)

    def html(self) -> str:
        r"""The table in HTML with escaped texts. Cells of numeric columns have the class ``n``.

        >>> print(Table.from_records([{"vc": "<1>", "goodput_mbps": 0.51234}]).html())
        <table><tr><th>vc</th><th class="n">goodput_mbps</th></tr>
        <tr><td>&lt;1&gt;</td><td class="n">0.512</td></tr></table>
        """
        heads, cells, right = self._formatted()
        numbers = ["n" if number else "" for number in right]
        lines = [_html_row("th", zip(heads, numbers, strict=True))]
        for place, (record, texts) in enumerate(zip(self.records, cells, strict=True)):
            marks = (f"{n} {c.css_class(record)}".strip() for n, c in zip(numbers, self.columns, strict=True))
            starts_group = place > 0 and self.starts_group(self.records[place - 1], record)
            lines.append(_html_row("td", zip(texts, marks, strict=True), "group" if starts_group else ""))
        return "<table>" + "\n".join(lines) + "</table>"

    __html__ = html

    def markdown(self) -> str:
        r"""The table in Markdown.

        >>> print(Table.from_records([{"vc": "a|b", "goodput_mbps": 0.51234}]).markdown())
        | vc | goodput_mbps |
        | --- | ---: |
        | a\|b | 0.512 |
        """
        heads, cells, right = self._formatted()
        rule = ["---:" if number else "---" for number in right]
        lines = [[in_markdown(text) for text in line] for line in (heads, *cells)]
        return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))

    def csv(self) -> str:
        """All fields of the records as CSV; see `csv_pieces`."""
        return "".join(csv_pieces(lambda: self.records))

    def _formatted(self) -> tuple[list[str], list[list[str]], list[bool]]:
        """Heads, the texts of each record, and which columns are numeric."""
        cells = [[format_value(column.value(record)) for column in self.columns] for record in self.records]
        right = [all(_NUMBER.match(texts[i]) for texts in cells) for i in range(len(self.columns))]
        return [column.head for column in self.columns], cells, right


def _folds(heads: Sequence[str], widths: Sequence[int], keys: int, width: int) -> list[Sequence[int]]:
    """Columns of each part of a folded table. A part has the keys and at least one other column with those that belong to it."""
    groups: list[list[int]] = []
    for column in range(keys, len(heads)):
        if groups and heads[column] in _ATTACHED_HEADS:
            groups[-1].append(column)
        else:
            groups.append([column])
    parts = [list(range(keys))]
    for group in groups:
        if len(parts[-1]) > keys and sum(widths[i] + 2 for i in [*parts[-1], *group]) - 2 > width:
            parts.append(list(range(keys)))
        parts[-1] += group
    return [*parts]


def _html_row(tag: str, cells: Iterable[tuple[str, str]], mark: str = "") -> str:
    """A row of texts, each with its class."""
    from html import escape

    inner = "".join(f"<{tag}{_class(mark)}>{escape(text)}</{tag}>" for text, mark in cells)
    return f"<tr{_class(mark)}>{inner}</tr>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def in_markdown(value: object) -> str:
    r"""A value as Markdown that shows it literally, on one line.

    >>> print(in_markdown("a|b, *c* and <d> of max_queue_cells"))
    a\|b, \*c\* and &lt;d&gt; of max_queue_cells
    """
    text = str(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(_MARKUP.sub(r"\\\g<0>", text).splitlines())


def csv_pieces(records: Callable[[], Iterable[Mapping[str, Any]]]) -> Iterator[str]:
    """CSV in pieces, with the columns of all records in order of appearance. Nested values are joined with dots and spaces.

    ``records`` is called twice, to see all columns first. Without records the text is empty and has
    no head.

    >>> print("".join(csv_pieces(lambda: [{"table": "1", "simulated": {"efficiency": 0.5}}, {"table": "2"}])), end="")
    table,simulated.efficiency
    1,0.5
    2,
    """
    columns = list(dict.fromkeys(column for record in records() for column in _flat(record)))
    if not columns:
        return
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    rest = iter(records())
    while part := list(itertools.islice(rest, PIECE_ITEMS)):
        writer.writerows(map(_flat, part))
        yield out.getvalue()
        out.seek(0)
        out.truncate()


def _flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in record.items():
        # Most values are plain, and to ask whether one is a `Mapping` takes much longer.
        if value is None or isinstance(value, (str, int, float)):
            flat[prefix + key] = value
        elif isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))
        elif isinstance(value, (list, tuple)):
            flat[prefix + key] = " ".join("" if item is None else str(item) for item in value)
        else:
            flat[prefix + key] = value
    return flat
