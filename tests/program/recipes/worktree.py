"""A copy of the tree in which a recipe is followed: only files that the recipe names can be
changed.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from msgspec import Struct
from page import PROJECT, PYTHON, Recipe

_MADE = {".venv", "build", "__pycache__", ".hypothesis", ".pytest_cache"}
ROLES = ("planner", "policies", "command", "components", "sandbox", "tutorials")


class Worktree(Struct, frozen=True):
    root: Path
    recipe: Recipe

    @classmethod
    def of(cls, recipe: Recipe, root: Path) -> Worktree:
        """Copy the files under version control, and create an environment that imports from the
        copy.
        """
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, names.split("\0")):
            if (PROJECT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(PROJECT / name, root / name)
        _make_environment(root)
        return cls(root, recipe)

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Write a file that the recipe names, or that is in a folder that it names."""
        assert self.recipe.allows(path), f'"{self.recipe.title}" does not name {path}'
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        self.write(path, self.read(path) + text)

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace a text that is in the file once."""
        text = self.read(path)
        assert text.count(old) == 1, f"{path}: {text.count(old)} times {old!r}"
        self.write(path, text.replace(old, new))

    def insert(self, path: str, after: str, text: str) -> None:
        """Insert a text after one that is in the file once."""
        self.replace(path, after, after + text)

    def add_row(self, path: str, **cells: str) -> None:
        """Add a row to a table; the cells that aren't given are empty."""
        columns = self.read(path).partition("\n")[0].split(",")
        assert cells.keys() <= set(columns), cells.keys() - set(columns)
        row = io.StringIO()
        csv.DictWriter(row, columns, restval="", lineterminator="\n").writerow(cells)
        self.append(path, row.getvalue())

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the interpreter of the copy in the copy, with additional environment variables."""
        inherited = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "PYTEST"))
        }
        environment = {**inherited, **variables}
        return subprocess.run(
            [PYTHON, *words], cwd=self.root, env=environment, capture_output=True, text=True
        )

    def changes(self) -> set[str]:
        """Return the files that differ from the project or are missing."""
        there = {
            path for path in self.root.rglob("*") if path.is_file() and not _MADE & set(path.parts)
        }
        names = {path.relative_to(self.root).as_posix() for path in there}
        return {name for name in names if not (PROJECT / name).is_file() or self._differs(name)}

    def _differs(self, name: str) -> bool:
        return (PROJECT / name).read_bytes() != (self.root / name).read_bytes()

    def check(self, **names: str) -> str:
        """Run the commands of the recipe in order; return the output of the first one that fails,
        or "".

        `names` are values for the placeholders of the recipe: `rule_id` for `<rule-id>`.
        """
        for words in self.recipe.commands:
            chosen = [
                re.sub("<(.*?)>", lambda found: names[found[1].replace("-", "_")], word)
                for word in words
            ]
            quick = ("-x", "-q", "-p", "no:cacheprovider") if "pytest" in words else ()
            done = self.run(*chosen, *quick)
            if done.returncode:
                return done.stdout + done.stderr
        return ""


def _make_environment(root: Path) -> None:
    """Make `.venv` with the packages that are installed here, and the project's packages of the
    copy.

    Nested .pth files aren't read, so the original project isn't found as well.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = root / ".venv" / "lib" / version / "site-packages"
    site_packages.mkdir(parents=True)
    interpreter = root / PYTHON
    interpreter.parent.mkdir()
    interpreter.symlink_to(sys.executable)
    (root / ".venv" / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix) / 'bin'}\n")
    paths = [str(root / role) for role in ROLES] + [sysconfig.get_path("purelib")]
    (site_packages / "copy.pth").write_text("\n".join(paths) + "\n")
