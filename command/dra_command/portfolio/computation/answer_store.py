"""The store for results: a folder of Parquet files, or of JSON lines without pyarrow. Results are
written as they arrive.

A killed run loses at most the rows of the last few seconds. Files are either complete or missing.
Only one run at a time can write to a folder, but other runs can read it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Container, Iterable
from importlib.util import find_spec
from pathlib import Path
from sys import intern
from typing import IO, Any

from dra_command.command_line.installation import extra_command
from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_planner.errors import Place, PlannerError

ROWS_PER_PART = 5_000
SECONDS_PER_PART = 5.0
MOST_PARTS = 8
_INTEGERS = frozenset(
    {"nodes_bound", "nodes_packing", "nodes_simulated", "nodes", "placed", "pending", "stalled"}
)
_MONEY = frozenset({"hourly_usd", "bound_usd"})


class Store:
    """The stored results of one portfolio, by digest. `unreadable` contains the files that were
    skipped, each with the reason.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.has_parquet = find_spec("pyarrow") is not None
        self.unreadable: dict[str, str] = {}
        self._waiting: list[AnswerRow] = []
        self._written = time.monotonic()
        self._part = 0
        self._lock: IO[bytes] | None = None

    # -- reading

    def read(self, digests: Container[str], *, whole: bool = False) -> dict[str, AnswerRow]:
        """Return the stored rows with these digests.

        Rows of plans are complete only if `whole` is set. A file that can't be read is skipped and
        recorded in `unreadable`. Raises PlannerError if pyarrow is missing.
        """
        return {
            row.digest: row
            for part in self._parts()
            for row in self._read_part(part, digests, whole=whole)
        }

    def _parts(self) -> list[Path]:
        return sorted([*self.folder.glob("part-*.parquet"), *self.folder.glob("part-*.jsonl")])

    def _read_part(
        self, path: Path, digests: Container[str] | None, *, whole: bool
    ) -> Iterable[AnswerRow]:
        if path.suffix == ".parquet" and not self.has_parquet:
            raise PlannerError(
                "these results are stored as Parquet, but pyarrow isn't installed",
                place=Place(str(path)),
                fix=f"run {extra_command('portfolio')}, or use another folder (--results)",
            )
        try:
            read = _read_lines if path.suffix == ".jsonl" else _read_parquet
            return read(path, digests, whole=whole)
        except FileNotFoundError:  # merged into a later file after it was listed
            later = [part for part in self._parts() if part > path]
            return [row for part in later for row in self._read_part(part, digests, whole=whole)]
        # pyarrow's errors are subclasses of these errors
        except (OSError, ValueError, TypeError, KeyError, NotImplementedError) as error:
            self.unreadable[str(path)] = " ".join(str(error).split()) or type(error).__name__
            return ()

    # -- writing

    def begin(self) -> None:
        """Create the folder, and prevent other runs from writing to it. Raises PlannerError if this
        fails.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "lock").open("wb")
        except OSError as error:
            raise self._cannot_keep(error) from None
        if not _is_locked(self._lock):
            self._lock.close()
            self._lock = None
            raise PlannerError(
                "another run of this portfolio is in progress and uses this results folder",
                place=Place(str(self.folder)),
                fix="wait until that run ends, or use another folder (--results)",
            )

    def add(self, rows: Iterable[AnswerRow]) -> None:
        """Add rows. Write the buffered rows if there are many, or if the last file is a few seconds
        old.
        """
        self._waiting += [row for row in rows if row.is_kept]
        due = time.monotonic() - self._written > SECONDS_PER_PART
        if len(self._waiting) >= ROWS_PER_PART or (due and self._waiting):
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows. Raises PlannerError."""
        self._written = time.monotonic()
        if self._waiting:
            self._write(self._waiting)
            self._waiting = []

    def close(self) -> None:
        """Write the buffered rows, merge the files, and let other runs write. Raises
        PlannerError.
        """
        try:
            self.flush()
            parts = self._parts()
            if len(parts) > MOST_PARTS:
                rows = {
                    row.digest: row
                    for part in parts
                    for row in self._read_part(part, None, whole=True)
                }
                self._write(list(rows.values()))
                for part in parts:
                    if str(part) not in self.unreadable:
                        part.unlink(missing_ok=True)
        finally:
            if self._lock is not None:
                self._lock.close()
                self._lock = None

    def _write(self, rows: list[AnswerRow]) -> None:
        self._part += 1
        name = f"part-{time.time_ns():020d}-{os.getpid()}-{self._part:04d}"
        path = self.folder / f"{name}.{'parquet' if self.has_parquet else 'jsonl'}"
        unfinished = path.with_suffix(".unfinished")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self.has_parquet:
                write_parquet(unfinished, AnswerRow._fields, rows)
            else:
                lines = (json.dumps(row._asdict(), ensure_ascii=False) for row in rows)
                unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            unfinished.replace(path)
        except OSError as error:
            raise self._cannot_keep(error) from None

    def _cannot_keep(self, error: OSError) -> PlannerError:
        return PlannerError(
            f"results can't be stored in this folder: {error.strerror or error}",
            place=Place(str(self.folder)),
            fix="use another folder (--results)",
        )


def write_parquet(path: Path, names: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Write rows as one Parquet file. Column names contain their types. Requires the `portfolio`
    extra.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, ordered = list(zip(*rows, strict=True)), list(names)
    types = [
        pa.int64() if name in _INTEGERS else pa.float64() if name in _MONEY else pa.string()
        for name in ordered
    ]
    arrays = [pa.array(columns[at] if columns else [], type=kind) for at, kind in enumerate(types)]
    pq.write_table(pa.table(arrays, names=ordered), path, compression="zstd")


def _read_lines(path: Path, digests: Container[str] | None, *, whole: bool) -> list[AnswerRow]:
    rows = (AnswerRow(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())
    return [
        row if whole else row.briefly for row in rows if digests is None or row.digest in digests
    ]


def _read_parquet(path: Path, digests: Container[str] | None, *, whole: bool) -> list[AnswerRow]:
    """Return the rows of a file. The largest column is read only if it's needed."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        table = file.read(columns=[name for name in AnswerRow._fields if name != "details"])
        known = table.column("digest").to_pylist()
        taken = [at for at, digest in enumerate(known) if digests is None or digest in digests]
        columns = {name: _values(table.column(name), taken) for name in table.column_names}
        needed = [whole or question != "plan" for question in columns["question"]]
        columns["details"] = [""] * len(taken)
        if any(needed):
            details = _values(file.read(columns=["details"]).column("details"), taken)
            columns["details"] = [
                text if need else "" for text, need in zip(details, needed, strict=True)
            ]
    for name, default in AnswerRow._field_defaults.items():  # columns that an older version lacks
        columns.setdefault(name, [default] * len(taken))
    columns["kubernetes"] = [intern(release) for release in columns["kubernetes"]]
    return list(
        map(AnswerRow._make, zip(*(columns[name] for name in AnswerRow._fields), strict=True))
    )


def _values(column: Any, taken: list[int]) -> list[Any]:
    """Return the values of a column at these positions. pyarrow's functions would do the same, but
    take long to load.
    """
    values = column.to_pylist()
    return values if len(taken) == len(values) else [values[at] for at in taken]


def _is_locked(file: IO[bytes]) -> bool:
    """Lock a file for the lifetime of this process. Return whether no other process has the lock.
    True if the file system doesn't support locks.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # file systems that don't support locks
        return True
    return True
