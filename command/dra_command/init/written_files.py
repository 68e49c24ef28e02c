"""Files that `init` writes: their paths, and the notes about them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.file_writer import write_whole
from dra_command.pens.terminal.page import print_note
from dra_planner.fleet import is_url
from dra_planner.wording import verb


def require_new(folder: Path, names: list[str], *, force: bool) -> None:
    """Raise UsageError if one of the files exists, unless `force` is set."""
    # also handles `..` in the path of a new folder
    paths = [os.path.normpath(folder / name) for name in names]
    there = [path for path in paths if os.path.exists(path)]
    if there and not force:
        raise UsageError(
            f"{', '.join(there)} already {verb(len(there), 'exist')}",
            fix="use another folder, or add --force to overwrite the files",
        )


def write_files(folder: Path, files: dict[str, str], *, quiet: bool) -> None:
    """Write texts to their paths in a folder, and print each path unless `quiet` is set."""
    for name, text in files.items():
        path = Path(os.path.normpath(folder / name))
        _make_folder(path.parent)
        write_whole(path, text, UsageError)
        if not quiet:
            print(f"wrote {path}")


def print_notes(path: Path, notes: Iterable[str]) -> None:
    """Print the facts in a written file that a person must check."""
    for note in notes:
        print_note(f"look at {os.path.normpath(path)}: {note}", sys.stdout)


def paths_from(folder: Path, paths: Iterable[str]) -> str:
    """Return paths relative to a folder, as arguments for a command that runs in this folder."""
    return shlex.join(path if is_url(path) else os.path.relpath(path, folder) for path in paths)


def path_in(folder: Path, file: str) -> str:
    """Return the path of a file relative to a folder. "" if the folder doesn't contain the file."""
    if not file or not Path(file).resolve().is_relative_to(folder.resolve()):
        return ""
    return Path(file).resolve().relative_to(folder.resolve()).as_posix()


def text_at(path: Path, otherwise: str) -> str:
    """Return the text of the file at a path, or `otherwise` if the file doesn't exist."""
    if not path.exists():
        return otherwise
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fault = (
            ", because it's a file"
            if isinstance(error, FileExistsError | NotADirectoryError)
            else f": {error.strerror or error}"
        )
        raise UsageError(
            f"files can't be written to {folder}{fault}", fix="use another folder"
        ) from None
