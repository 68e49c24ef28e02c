"""Files that the command writes atomically."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

from dra_planner.errors import Place, PlannerError

NEW_FILE_MODE: Final = 0o644


def write_whole(
    path: Path, text: str, fault: type[PlannerError], *, mode: int = NEW_FILE_MODE
) -> None:
    """Replace a file in one step. Raises `fault` with the file's place if that fails."""
    real = path.resolve()  # a link stays a link
    try:
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            Path(name).chmod(mode)
            Path(name).replace(real)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise fault(
            f"can't be written: {reason}",
            place=Place(str(path)),
            fix="make sure that the file's folder exists and that you can write to it",
        ) from None
