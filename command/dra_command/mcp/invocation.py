"""Run a subcommand for an agent: accept only paths below a folder, and return the answer as plain
data.

Each call runs in a separate process with a time limit, so a hostile input can't block the server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec import Struct

SECONDS: Final = 120
_LONGEST: Final = 4_096  # maximum characters in one argument
_MOST: Final = 200  # maximum paths or words in one call


class NotAllowed(ValueError):
    """An argument that an agent isn't allowed to pass. The message contains the reason."""


class Invocation(Struct, frozen=True):
    """Runs subcommands below a folder."""

    root: Path

    def paths(self, given: Sequence[str]) -> list[str]:
        """Return paths relative to the folder. Raises NotAllowed if a path leads outside the folder
        or doesn't exist.
        """
        return [self.path(each) for each in given]

    def path(self, given: str) -> str:
        """Return one path relative to the folder. Raises NotAllowed."""
        if len(given) > _LONGEST or "\0" in given:
            raise NotAllowed("a path is too long or contains a null byte")
        found = (self.root / given).resolve()
        if not found.is_relative_to(self.root):
            raise NotAllowed(f"{given} is outside the folder that this server may read")
        if not found.exists():
            raise NotAllowed(f"{given} doesn't exist in {self.root.name}")
        return f"./{found.relative_to(self.root)}"

    def answer(
        self, command: str, paths: Sequence[str], options: Mapping[str, str]
    ) -> dict[str, Any]:
        """Run a subcommand, and return its JSON output and exit status. Options with empty values
        are omitted. Raises NotAllowed if an option's value is too long, and TimeoutError after
        `SECONDS`.
        """
        words = [f"--{name}={value}" for name, value in options.items() if value]
        if any(len(word) > _LONGEST or "\0" in word for word in (*words, *paths)):
            raise NotAllowed("an argument is too long or contains a null byte")
        if len(paths) > _MOST:
            raise NotAllowed(f"a call can contain at most {_MOST} paths or words")
        # -P: prevents a module in the folder from replacing a module of the interpreter
        start = [sys.executable, "-P", "-m", "dra_command.mcp.confinement"]
        line = [*start, command, *words, "--format=json", "--", *paths]
        try:
            with TemporaryDirectory(prefix="pulumi-dra-") as scratch:
                done = subprocess.run(
                    line,
                    cwd=self.root,
                    env={**os.environ, "TMPDIR": scratch},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    encoding="utf-8",
                    timeout=SECONDS,
                    check=False,
                )
        except subprocess.TimeoutExpired:
            raise TimeoutError(
                f"the command took more than {SECONDS} s; pass fewer manifests"
            ) from None
        try:
            found = json.loads(done.stdout)
        except json.JSONDecodeError:
            found = {
                "error": done.stderr.strip()
                or f"the command didn't print valid JSON (exit status {done.returncode})"
            }
        answer: dict[str, Any] = found if isinstance(found, dict) else {"rows": found}
        return {"exitStatus": done.returncode, **answer}
