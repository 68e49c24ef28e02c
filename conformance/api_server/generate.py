"""Generate documents: first the project's own cases, then variants of these cases and random valid
objects, in which a few fields are changed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from mutate import Mutator
from reader import objects_of
from valid_objects import Maker

from dra_planner.errors import ManifestError
from dra_planner.manifests.schema import struct_of
from vocabulary import Plain

Json = dict[str, Any]
CASES: Final = Path(__file__).resolve().parents[2] / "tests" / "planner" / "manifests" / "cases"
_TEXT_GROUPS: Final = ("yaml", "yaml-dialect")
_CHANGES: Final = (0, 1, 1, 1, 1, 2, 2, 3, 4)
MAX_SEED_BYTES: Final = 20_000


@cache
def seeds() -> tuple[tuple[str, Json], ...]:
    """Return the objects of the project's own cases as (location, object)."""
    found = []
    for path in sorted(CASES.glob("*.yaml")):
        if path.stem in _TEXT_GROUPS:
            continue
        for case in yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader):
            try:
                (item,) = objects_of(_expanded(case))
            except ManifestError:
                continue
            # other objects are used unchanged
            if struct_of(item.api_version, item.kind) is not None:
                found.append((f"{path.stem}/{case['id']}", _plain(item.data)))
    return tuple(found)


def _expanded(case: Json) -> str:
    text: str = case["manifest"]
    for name, rule in (case.get("expand") or {}).items():
        parts = [rule["each"].replace("{i}", str(index)) for index in range(rule["count"])]
        text = text.replace(f"@{name}@", rule.get("join", ", ").join(parts))
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def documents(mutator: Mutator, minor: int, seed: int, count: int) -> Iterator[Json]:
    """Yield `count` documents. With the same schemas, the same seed gives the same documents."""
    starts = [start for _, start in seeds() if _is_start(start)]
    for number in range(count):
        rng = random.Random(f"{seed}/{minor}/{number}")
        document = rng.choice(starts) if rng.random() < 0.45 else Maker(rng).make()
        for _ in range(rng.choice(_CHANGES)):
            document = mutator.mutate(rng, document)
        yield document


WORKLOADS: Final = Path(__file__).resolve().parent / "workloads.yaml"


def changed_workloads(mutator: Mutator, minor: int, seed: int, count: int) -> Iterator[Json]:
    """Yield `count` pods and workloads with changes in any field. The same seed gives the same
    objects.
    """
    starts = list(yaml.load_all(WORKLOADS.read_text("utf-8"), Loader=yaml.CSafeLoader))
    weights = [len(json.dumps(start)) ** 0.5 for start in starts]
    for number in range(count):
        rng = random.Random(f"workloads/{seed}/{minor}/{number}")
        (document,) = rng.choices(starts, weights)
        for _ in range(rng.choice(_CHANGES)):
            document = mutator.mutate(rng, document)
        yield document


def _is_start(document: Json) -> bool:
    """Return True if a case is small and has no resources of the pod itself, which the reader
    doesn't check.
    """
    spec = document.get("spec")
    own = isinstance(spec, dict) and "resources" in spec
    return not own and "metadata" in document and len(json.dumps(document)) < MAX_SEED_BYTES


def without_plain(value: Any) -> Any:
    """Return a document in which texts replace the scalars that are written without quotes."""
    if isinstance(value, dict):
        return {key: without_plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_plain(item) for item in value]
    return value.text if isinstance(value, Plain) else value


def written(document: Json) -> str:
    """Return a document's text: JSON as kubectl sends it, or YAML if the document contains scalars
    without quotes.
    """
    if _has_plain(document):
        return "".join(f"{json.dumps(key)}: {_flow(value)}\n" for key, value in document.items())
    return json.dumps(document, sort_keys=True, ensure_ascii=False)


def _has_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_plain, value.values()))
    return any(map(_has_plain, value)) if isinstance(value, list) else isinstance(value, Plain)


def _flow(value: Any) -> str:
    if isinstance(value, Plain):
        return value.text
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)}: {_flow(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return json.dumps(value)
