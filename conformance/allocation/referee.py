"""Builds and runs the referee: upstream's allocator of one Kubernetes minor, behind a pipe of JSON lines."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = HERE / "referee"
MINORS = (34, 35, 36, 37)
VERSIONS = {34: "0.34.9", 35: "0.35.6", 36: "0.36.3", 37: "0.37.2"}
"""Versions of k8s.io/dynamic-resource-allocation, as in the go.mod files."""

Json = dict[str, Any]


def go() -> str:
    """Return the path of the Go tool; exits with advice where there is none."""
    found = os.environ.get("GO") or shutil.which("go")
    if not found:
        sys.exit("the referee needs Go 1.26 or later: put it on PATH, or name it in the variable GO")
    return found


def cache() -> Path:
    """Return the folder for built referees."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "pulumi-dra" / "conformance"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def build(minor: int) -> Path:
    """Return the referee of a minor, built when it is not there yet."""
    digest = hashlib.sha256()
    for path in (SOURCE / "main.go", SOURCE / f"go-1.{minor}.mod", SOURCE / f"go-1.{minor}.sum"):
        digest.update(path.read_bytes())
    binary = cache() / f"allocation-1.{minor}-{digest.hexdigest()[:12]}"
    if not binary.exists():
        scratch = binary.with_suffix(f".{os.getpid()}")
        print(f"building upstream's allocator {VERSIONS[minor]}", file=sys.stderr)
        command = [go(), "build", f"-modfile=go-1.{minor}.mod", "-trimpath", "-o", str(scratch), "."]
        subprocess.run(command, cwd=SOURCE, check=True)
        scratch.replace(binary)
    return binary


def ask(minor: int, cases: Iterable[Json]) -> Iterator[Json]:
    """Yield the referee's answers, in the order of the cases."""
    text = "\n".join(json.dumps(case) for case in cases)
    done = subprocess.run([str(build(minor))], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the referee of 1.{minor} failed: {done.stderr[-2000:]}")
    yield from (json.loads(line) for line in done.stdout.splitlines())
