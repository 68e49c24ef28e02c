"""Build and run the referee: upstream's allocator in one Kubernetes minor version. It reads and
writes JSON lines.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dra_planner.releases import RELEASES
from dra_sandbox.cache import cache_folder

HERE = Path(__file__).parent
SOURCE = HERE / "referee"
MINORS = tuple(RELEASES)
VERSIONS = {34: "0.34.9", 35: "0.35.6", 36: "0.36.3", 37: "0.37.2"}
"""Versions of k8s.io/dynamic-resource-allocation, as in the go.mod files."""

Json = dict[str, Any]


def go() -> str:
    """Return the path of the Go tool. Exits with an error message if it's missing."""
    found = os.environ.get("GO") or shutil.which("go")
    if not found:
        sys.exit(
            "the referee needs Go 1.26 or later; put it on PATH, or set the environment variable "
            "GO to its path"
        )
    return found


def cache() -> Path:
    """Return the folder for built referees."""
    folder = cache_folder() / "conformance"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def build(minor: int, version: str = "") -> Path:
    """Return the referee for a minor version, and build it if necessary. `version` selects the
    modules of an older patch version.
    """
    version = version or VERSIONS[minor]
    digest = hashlib.sha256()
    for path in (SOURCE / "main.go", SOURCE / f"go-1.{minor}.mod", SOURCE / f"go-1.{minor}.sum"):
        digest.update(path.read_bytes())
    name = f"1.{minor}" if version == VERSIONS[minor] else version
    binary = cache() / f"allocation-{name}-{digest.hexdigest()[:12]}"
    if not binary.exists():
        scratch = binary.with_suffix(f".{os.getpid()}")
        print(f"building upstream's allocator {version}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            command = [
                go(),
                "build",
                *_modules(minor, version, Path(folder)),
                "-trimpath",
                "-o",
                str(scratch),
                ".",
            ]
            subprocess.run(command, cwd=SOURCE, check=True)
        scratch.replace(binary)
    return binary


def _modules(minor: int, version: str, folder: Path) -> list[str]:
    """Return the arguments that select Go modules. The modules of an older patch version are listed
    in a separate folder.
    """
    pinned = SOURCE / f"go-1.{minor}.mod"
    if version == VERSIONS[minor]:
        return [f"-modfile={pinned.name}"]
    text = pinned.read_text("utf-8").replace(f"v{VERSIONS[minor]}", f"v{version}")
    (folder / "go.mod").write_text(text, "utf-8")
    shutil.copy(pinned.with_suffix(".sum"), folder / "go.sum")
    return [f"-modfile={folder / 'go.mod'}", "-mod=mod"]


def ask(minor: int, cases: Iterable[Json], version: str = "") -> Iterator[Json]:
    """Yield the referee's results, in the order of the cases."""
    text = "\n".join(json.dumps(case) for case in cases)
    done = subprocess.run(
        [str(build(minor, version))], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"the referee of 1.{minor} failed: {done.stderr[-2000:]}")
    yield from (json.loads(line) for line in done.stdout.splitlines())
