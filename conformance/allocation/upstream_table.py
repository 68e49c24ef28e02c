"""Read upstream's own table of allocator cases. The table is recorded on demand and never stored in
this repository.

The Go module is copied to a scratch folder, and our recording tests are added to its own tests.
When its table runs there, they write the inputs and results of every case as JSON lines.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from referee import HERE, VERSIONS, cache, go

Json = dict[str, Any]
RECORDERS = HERE / "record"
MODULE = "k8s.io/dynamic-resource-allocation"


def upstream_cases(minor: int) -> list[Json]:
    """Return upstream's table for a minor version. `runs` contains the results of each case."""
    recorded = cache() / f"upstream-table-{VERSIONS[minor]}.jsonl"
    if not recorded.exists():
        print(f"recording upstream's table of {VERSIONS[minor]}", file=sys.stderr)
        _record(minor, recorded)
    return [json.loads(line) for line in recorded.read_text().splitlines()]


def _record(minor: int, target: Path) -> None:
    found = subprocess.run(
        [go(), "mod", "download", "-json", f"{MODULE}@v{VERSIONS[minor]}"],
        capture_output=True,
        text=True,
        check=True,
    )
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "module"
        shutil.copytree(json.loads(found.stdout)["Dir"], copy)
        for path in [copy, *copy.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        shutil.copytree(Path(__file__).parents[1] / "exact", copy / "zzexact")
        for source in RECORDERS.glob("*_test.go"):
            if _is_wanted(source, copy / "structured"):
                shutil.copy(source, copy / "structured" / f"zz_{source.name}")
        part = Path(scratch) / "recorded"
        run = subprocess.run(
            [go(), "test", "-mod=mod", "-trimpath", "-vet=off", "-count=1", "-v", "./structured"],
            cwd=copy,
            env=_environment(part),
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode or re.search(
            r"^ *--- SKIP: TestRecord/experimental/", run.stdout, re.MULTILINE
        ):
            tail = f"{run.stdout[-3000:]}{run.stderr[-1000:]}"
            sys.exit(f"upstream's table of {VERSIONS[minor]} couldn't be recorded:\n{tail}")
        shutil.move(part, target)


def _is_wanted(source: Path, folder: Path) -> bool:
    """Return True if this version has the declaration that a recorder needs. A recorder can name it
    in its first line: `// needs: Name`.
    """
    needs = re.match(r"// needs: (\w+)", source.read_text())
    return needs is None or any(
        re.search(rf"\b{needs[1]}\b", p.read_text()) for p in folder.rglob("*.go")
    )


def _environment(part: Path) -> dict[str, str]:
    import os

    return {**os.environ, "RECORD_OUT": str(part)}
