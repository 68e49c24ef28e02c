"""An estimate of the time and space that a whole portfolio needs, based on the computed part."""

from __future__ import annotations

import json
from pathlib import Path

from dra_planner.wording import counted, noun, verb

_WORKERS = (1, 16, 128)


def estimate(folder: Path, missing: int) -> list[str]:
    """Return sentences about the time and space that missing cells need. Empty if there is no
    measurement.
    """
    runs = _runs(folder)
    cells = sum(run["cells"] for run in runs)
    if not cells or not missing:
        return []
    each = sum(run["cpu_seconds"] for run in runs) / cells
    kept = sum(part.stat().st_size for part in folder.glob("part-*")) / cells
    times = ", ".join(
        f"{_time(each * missing / workers)} on {counted(workers, 'core')}" for workers in _WORKERS
    )
    return [
        (
            f"{missing:,} {noun(missing, 'cell')} {verb(missing, 'are')}n't computed yet. At "
            f"{each * 1000:.1f} ms of CPU time per cell (measured on {cells:,} "
            f"{noun(int(cells), 'cell')}), the rest needs {times}"
        ),
        f"their results need about {_size(kept * missing)}",
    ]


def _runs(folder: Path) -> list[dict[str, float]]:
    log = folder / "runs.jsonl"
    if not log.exists():
        return []
    runs = []
    for line in log.read_text(encoding="utf-8").splitlines():
        try:
            runs.append(json.loads(line))
        except ValueError:  # the line of a run that was killed while writing
            continue
    return runs


def _time(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"


def _size(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{max(1, round(size / 2**20))} MiB"
