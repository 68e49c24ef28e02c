"""Compare the reader with one server on random documents."""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from client import Answer, Client, ask
from msgspec import Struct
from mutate import Mutator
from reader import WORLD, answer, objects_of

from compare import difference
from dra_planner.errors import ManifestError
from dra_planner.manifests.documents import read_documents
from dra_planner.releases import Features
from dra_planner.sources import Source
from generate import changed_workloads, documents, without_plain, written
from shrink import shrink

Json = dict[str, Any]
CHUNK: Final = 400
_FAULT: Final = re.compile(r"\('[^']*', '\w+'\)")
_INDEX: Final = re.compile(r"\[\d+\]")
_SHAPE: Final = re.compile(r"\[[^\]]*\]|'[^']*'|\"[^\"]*\"|\d+|\(.*")


class Difference(Struct, frozen=True):
    """A document for which the two results differ, and the difference."""

    document: Json
    mode: str
    reason: str

    @property
    def shape(self) -> str:
        """A rough key that groups differences with the same cause."""
        return f"{self.document.get('kind')} {self.mode} {_SHAPE.sub('#', self.reason)[:160]}"


def populate(client: Client) -> None:
    """Create the objects in `world.yaml`, with unused quotas."""
    for document in read_documents([Source("world.yaml", WORLD.read_text("utf-8"))])[0]:
        data: Json = document.data
        text = written(data)
        answer = client.create(text, data, dry_run=False)
        if answer.reason:
            sys.exit(
                f"the server rejects this object of world.yaml: {data['kind']}: {answer.message}"
            )
        if data["kind"] == "ResourceQuota":
            hard = data["spec"]["hard"]
            status = {**data, "status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}
            path = f"{client.path_of(data)}/{data['metadata']['name']}/status"
            client.call("PUT", path, written(status).encode())


GROUPS: Final = (
    "api/v1",
    "apis/apps/v1",
    "apis/batch/v1",
    "apis/resource.k8s.io/v1",
    "apis/policy/v1",
    "apis/autoscaling/v2",
    "apis/scheduling.k8s.io/v1",
    "apis/node.k8s.io/v1",
)


def mutator_of(client: Client, *, everywhere: bool = False) -> Mutator:
    """Return the object that changes documents according to the schemas of this server."""
    schemas: Json = {}
    for group in GROUPS:
        schemas |= client.schemas(group)
    return Mutator(schemas, everywhere=everywhere)


def compare_documents(
    client: Client, features: Features, made: Sequence[Json], mode: str
) -> Iterator[tuple[Json, Answer, str]]:
    """Yield each document with the server's response, and the difference from the reader's
    result.
    """
    if mode == "Apply":  # these documents are always sent as JSON
        made = [without_plain(document) for document in made]
    texts = [written(document) for document in made]
    answers = ask(
        client, [(text, document, mode) for text, document in zip(texts, made, strict=True)]
    )
    for document, text, theirs in zip(made, texts, answers, strict=True):
        ours = answer(text, features, mode)
        try:
            (item,) = objects_of(text)
            sent = item.data
        except (ManifestError, ValueError):
            sent = document
        yield document, theirs, difference(theirs, ours, sent)


def differences(
    client: Client,
    features: Features,
    seed: int,
    count: int,
    mode: str,
    shown: int,
    make: Callable[[Mutator, int, int, int], Iterator[Json]] = documents,
) -> tuple[list[Difference], Counter[str]]:
    """Return the differences for `count` random documents, each kind with a minimal example, and
    the responses.
    """
    mutator, kinds = mutator_of(client, everywhere=make is not documents), Counter[str]()
    stream = list(make(mutator, features.minor, seed, count))
    found: dict[str, Difference] = {}
    started = time.perf_counter()
    for first in range(0, len(stream), CHUNK):
        for document, theirs, reason in compare_documents(
            client, features, stream[first : first + CHUNK], mode
        ):
            kinds[theirs.reason or "accepted"] += 1
            if reason:
                kinds["differences"] += 1
                difference = Difference(document, mode, reason)
                found.setdefault(difference.shape, difference)
    kinds["per second"] = round(count / (time.perf_counter() - started))
    return [_small(client, features, each) for each in list(found.values())[:shown]], kinds


RECORDED_COUNT: Final = 600
RECORDED_SEED: Final = 9


def record(client: Client, minor: int, file: Path) -> int:
    """Store changed workloads with the server's messages, and return their number."""
    made = list(
        changed_workloads(mutator_of(client, everywhere=True), minor, RECORDED_SEED, RECORDED_COUNT)
    )
    texts = [written(document) for document in made]
    answers = ask(
        client, [(text, document, "Strict") for text, document in zip(texts, made, strict=True)]
    )
    lines = [
        json.dumps({"text": text, "reason": answer.reason, "faults": sorted(answer.faults)})
        for text, answer in zip(texts, answers, strict=True)
        # for other reasons, the server rejects an object before it evaluates the rules
        if answer.reason in ("", "Invalid")
    ]
    file.parent.mkdir(exist_ok=True)
    with file.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed:
        packed.write("\n".join(lines).encode())
    return len(lines)


def _small(client: Client, features: Features, difference: Difference) -> Difference:
    kind = difference.reason.partition(":")[0]

    def differs(smaller: list[Json]) -> list[bool]:
        return [
            reason.partition(":")[0] == kind and _is_alike(theirs, reason, difference)
            for _, theirs, reason in compare_documents(client, features, smaller, difference.mode)
        ]

    document = shrink(difference.document, differs)
    ((_, _, reason),) = compare_documents(client, features, [document], difference.mode)
    return Difference(document, difference.mode, reason)


def _is_alike(theirs: Answer, reason: str, first: Difference) -> bool:
    """Return True if a smaller document still has the same difference: the server's verdict is the
    same, and no other field is invalid.
    """
    if first.reason.startswith("verdict"):
        return f"server {theirs.reason or 'accepted'} " in first.reason
    return _faults(reason) <= _faults(first.reason)


def _faults(reason: str) -> set[str]:
    return {_INDEX.sub("", fault) for fault in _FAULT.findall(reason)}
