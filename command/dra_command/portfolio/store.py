"""Where answers are kept: a folder of Parquet files, or of JSON lines without pyarrow; written as answers come.

A run that is killed loses the rows of the last seconds at most. Files are complete or not there.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dra_command.portfolio.rows import Row
from dra_planner.errors import Place, PlannerError

ROWS_PER_PART = 5_000
SECONDS_PER_PART = 5.0
MOST_PARTS = 40
_INTEGERS = frozenset({"nodes_bound", "nodes_packing", "nodes_simulated", "nodes", "placed", "pending"})
_MONEY = frozenset({"hourly_usd", "bound_usd"})


class Store:
    """The answers of one portfolio, by digest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.has_parquet = find_spec("pyarrow") is not None
        self._waiting: list[Row] = []
        self._written = time.monotonic()
        self._part = 0

    # -- reading

    def read(self, digests: set[str]) -> dict[str, Row]:
        """Return the rows that are there of these digests; raises PlannerError for a file that cannot be read."""
        found: dict[str, Row] = {}
        for part in self._parts():
            for row in _read_part(part, has_parquet=self.has_parquet):
                if row.digest in digests:
                    found[row.digest] = row
        return found

    def _parts(self) -> list[Path]:
        return sorted([*self.folder.glob("part-*.parquet"), *self.folder.glob("part-*.jsonl")])

    # -- writing

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows, and write those that wait once they are many or the last part is some seconds old."""
        self._waiting += [row for row in rows if row.is_kept]
        due = time.monotonic() - self._written > SECONDS_PER_PART
        if len(self._waiting) >= ROWS_PER_PART or (due and self._waiting):
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        self._written = time.monotonic()
        if not self._waiting:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(self._waiting)
        self._waiting = []

    def close(self) -> None:
        """Write what waits, and make one file of many."""
        self.flush()
        parts = self._parts()
        if len(parts) > MOST_PARTS:
            rows = {row.digest: row for part in parts for row in _read_part(part, has_parquet=self.has_parquet)}
            self._write(list(rows.values()))
            for part in parts:
                part.unlink(missing_ok=True)

    def _write(self, rows: list[Row]) -> None:
        self._part += 1
        name = f"part-{time.time_ns():020d}-{os.getpid()}-{self._part:04d}"
        path = self.folder / f"{name}.{'parquet' if self.has_parquet else 'jsonl'}"
        unfinished = path.with_suffix(".unfinished")
        if self.has_parquet:
            write_parquet(unfinished, Row._fields, rows)
        else:
            lines = (json.dumps(row._asdict(), ensure_ascii=False) for row in rows)
            unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        unfinished.replace(path)


def write_parquet(path: Path, names: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Write rows as one Parquet file; names of columns say their types. Needs the extra `portfolio`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, ordered = list(zip(*rows, strict=True)), list(names)
    types = [pa.int64() if name in _INTEGERS else pa.float64() if name in _MONEY else pa.string() for name in ordered]
    arrays = [
        pa.array(columns[at] if columns else [], type=kind) for at, kind in enumerate(types)
    ]
    pq.write_table(pa.table(arrays, names=ordered), path, compression="zstd")


def _read_part(path: Path, *, has_parquet: bool) -> Iterator[Row]:
    try:
        if path.suffix == ".jsonl":
            for line in path.read_text(encoding="utf-8").splitlines():
                yield Row(**json.loads(line))
            return
        if not has_parquet:
            raise PlannerError(
                "these answers are kept as Parquet, and pyarrow is not installed",
                place=Place(str(path)),
                fix='pip install "pulumi-dra[portfolio]", or name another folder with --results',
            )
        import pyarrow.parquet as pq

        columns = pq.read_table(path, columns=list(Row._fields)).to_pydict()
    except (OSError, ValueError, TypeError, KeyError) as error:  # pyarrow's errors are kinds of these
        raise PlannerError(
            f"these answers cannot be read: {error}", place=Place(str(path)), fix="remove the file"
        ) from None
    yield from map(Row, *(columns[name] for name in Row._fields))
