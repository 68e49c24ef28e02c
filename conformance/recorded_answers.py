"""Store upstream's responses to fixed cases. A minor version can then be compared without building
it.

    python conformance/cel/run.py --minor 34 --recorded       compare with the stored responses
    python conformance/allocation/run.py --minor 34 --record  run upstream again, and store its
                                                              responses

Every run generates the cases from a seed. A file stores their digest together with the responses,
so that responses to different cases are never compared.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parent / "recorded"
COUNT: Final = 500
SEED: Final = 1

Json = dict[str, Any]


def keep(room: str, minor: int, questions: list[Json], answers: list[Json]) -> None:
    """Store upstream's responses. The same responses always result in the same bytes."""
    FOLDER.mkdir(exist_ok=True)
    lines = [
        json.dumps({"questions": _digest(questions)}),
        *(json.dumps(each, sort_keys=True) for each in answers),
    ]
    with (
        _file(room, minor).open("wb") as raw,
        gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed,
    ):
        packed.write("\n".join(lines).encode())


def kept(room: str, minor: int, questions: list[Json]) -> list[Json]:
    """Return upstream's responses in the order of the questions. Exits if no responses to these
    questions are stored.
    """
    file = _file(room, minor)
    again = f"record them: python conformance/{room}/run.py --minor {minor} --record"
    if not file.exists():
        sys.exit(f"no responses of 1.{minor} are stored; {again}")
    first, *lines = gzip.decompress(file.read_bytes()).decode().split("\n")
    if json.loads(first)["questions"] != _digest(questions):
        sys.exit(f"the stored responses of 1.{minor} belong to different cases; {again}")
    return [json.loads(line) for line in lines]


def _file(room: str, minor: int) -> Path:
    return FOLDER / f"{room}-1.{minor}.jsonl.gz"


def _digest(questions: list[Json]) -> str:
    return hashlib.sha256(json.dumps(questions, sort_keys=True).encode()).hexdigest()
