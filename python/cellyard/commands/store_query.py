"""The command ``cellyard store query``: SQL over the runs of a store."""

import re
import tempfile
from pathlib import Path

from cellyard.show.table import Table
from cellyard.show.text import dump
from cellyard.store import open_store
from cellyard.store.frames import PARTS, import_extra
from cellyard.system.errors import UsageError


def command(path: Path, sql: str, *, output_format: str) -> int:
    """Make the tables that ``sql`` names, and print its result."""
    duckdb = import_extra("duckdb")
    import_extra("polars")
    named = [part for part in PARTS if re.search(rf"\b{part}\b", sql, re.IGNORECASE)]
    with tempfile.TemporaryDirectory(prefix="cellyard-") as folder, duckdb.connect() as connection:
        with open_store(path) as store, store.snapshot():
            empty = []
            for part in named:
                frame = store.to_frame(part)
                if not len(frame):
                    empty.append(part)
                else:
                    file = Path(folder) / f"{part}.parquet"
                    frame.write_parquet(file)
                    quoted = str(file).replace("'", "''")
                    connection.execute(f"CREATE VIEW {part} AS SELECT * FROM read_parquet('{quoted}')")
        try:
            found = connection.execute(sql)
            if found is None:
                raise UsageError(
                    f"SQL: the statement is empty; write one such as `SELECT count(*) FROM runs` (tables: {', '.join(PARTS)})"
                )
            columns = [column[0] for column in found.description or ()]
            rows = found.fetchall() if columns else []
        except duckdb.Error as error:
            words = " ".join(str(error).split("\n\n")[0].split())
            nothing = f"; without rows in this store: {', '.join(empty)}" if empty else ""
            raise UsageError(f"SQL: {words} (tables: {', '.join(PARTS)}{nothing})") from None
    if output_format == "table":
        print(Table.from_rows(columns, rows))
    else:
        plain = [{name: _plain(value) for name, value in zip(columns, row, strict=True)} for row in rows]
        print(
            dump({"rows": plain}) if output_format == "json" else Table.from_records(plain).csv(),
            end="\n" * (output_format == "json"),
        )
    return 0


def _plain(value: object) -> object:
    """Convert values without a JSON form, such as dates, to text."""
    return value if value is None or isinstance(value, (bool, int, float, str, list, dict)) else str(value)
