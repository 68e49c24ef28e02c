"""The plan's document: its schema, its digests, and where it stands as a file and as a record in a stack.

The document is a lock. Its `digest` covers its own content, so an edit by hand shows; `inputs` covers the fleet
and the workloads it was made from, so a stale plan shows. It is deterministic and free of secrets and of places.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dra_planner.errors import NOWHERE, Place, PlanFileError
from dra_planner.fleet import Fleet
from dra_planner.model.verdicts import Verdict
from dra_planner.sources import Source, digest_documents

VERSION = 1

RECORD_TYPE = "pulumi-dra:index:CapacityPlan"
"""Type token of the component that carries the document through the engine; it is registered first."""

RECORD_DOCUMENT = "document"
"""Its input: the document as one canonical JSON text, since numbers cross the engine as floats."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Inputs(_Part):
    """What the plan was made from."""

    fleet: str
    workloads: str
    paths: tuple[str, ...] = Field(default=(), strict=False)


class CountRow(_Part):
    """Nodes of a pool: the fleet's limits, what is provably the least, what the best packing found needs."""

    min: int
    bound: int
    plan: int
    max: int


class NodesRow(_Part):
    """What the pool is created with."""

    min: int = Field(ge=0)
    desired: int = Field(ge=0)
    max: int = Field(ge=0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.min <= self.desired <= self.max:
            raise ValueError(f"min {self.min}, desired {self.desired}, max {self.max} are not in order")
        return self


class PoolRow(BaseModel):
    """One pool of the plan; further keys are for readers."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    name: str
    machine: str
    count: CountRow
    nodes: NodesRow


class PlanFile(BaseModel):
    """A plan document whose content digest has been checked."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    version: int
    digest: str
    inputs: Inputs
    kubernetes: str
    verdict: Verdict
    assumptions: tuple[str, ...] = Field(strict=False)
    fleet: dict[str, Any]
    classes: list[dict[str, Any]]
    demand: dict[str, Any]
    pools: tuple[PoolRow, ...] = Field(strict=False)
    workloads: list[dict[str, Any]]

    def pool(self, name: str) -> PoolRow:
        """Return the row of that pool; raises KeyError."""
        for row in self.pools:
            if row.name == name:
                return row
        raise KeyError(name)

    def document(self) -> dict[str, Any]:
        """Return the document as plain data."""
        return self.model_dump(mode="json")


def plan_path(stack: str, project: Path = Path()) -> Path:
    """Return where the plan of a stack is kept."""
    return project / "stacks" / f"{stack}.plan.json"


def fleet_digest(fleet: Fleet) -> str:
    """Return the digest of a fleet with its defaults filled in."""
    return _digest(fleet.document())


def inputs_of(fleet: Fleet, sources: Iterable[Source], paths: Iterable[str] = ()) -> dict[str, Any]:
    """Return the `inputs` section: digests that do not depend on file names or the order of documents."""
    return {
        "fleet": fleet_digest(fleet),
        "workloads": digest_documents(sources),
        "paths": sorted(paths),
    }


def seal(content: Mapping[str, Any]) -> PlanFile:
    """Return a plan document for this content (everything but `version` and `digest`).

    Raises PlanFileError when the content is not a plan document.
    """
    document = {**content, "version": VERSION}
    return _validated({**document, "digest": _digest(document)}, NOWHERE)


def canonical_text(plan_file: PlanFile) -> str:
    """Return the document on one line with sorted keys: the text of the record."""
    return _canonical(plan_file.document())


def file_text(plan_file: PlanFile) -> str:
    """Return the document as it is kept in a repository: indented, sorted keys, newline at the end."""
    return json.dumps(plan_file.document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_plan_file(path: Path, *, stack: str = "") -> PlanFile:
    """Return the plan document of a file; raises PlanFileError when it is missing, broken or edited by hand."""
    command = f"pulumi-dra plan --stack {stack} --write" if stack else "pulumi-dra plan --stack STACK --write"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PlanFileError(f"there is no plan: {path} does not exist", fix=f"run `{command}`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PlanFileError(f"{path} cannot be read: {error}", fix=f"run `{command}`") from None
    return parse_document(text, Place(str(path)), fix=f"run `{command}`")


def parse_document(text: str, place: Place = NOWHERE, *, fix: str = "make the plan again") -> PlanFile:
    """Return the document that a text holds, its digest checked; raises PlanFileError."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        raise PlanFileError(f"is not JSON: {error}", place=Place(place.file, line), fix=fix) from None
    if not isinstance(document, dict):
        raise PlanFileError("is not a plan document: it must be a mapping", place=place, fix=fix)
    version = document.get("version")
    if version != VERSION:
        raise PlanFileError(
            f"is a plan document of version {version!r}; this program reads version {VERSION}", place=place, fix=fix
        )
    digest = _digest({key: value for key, value in document.items() if key != "digest"})
    if document.get("digest") != digest:
        raise PlanFileError("was changed by hand: its content does not match its digest", place=place, fix=fix)
    return _validated(document, place, fix)


def check_inputs(
    plan_file: PlanFile,
    fleet: Fleet,
    sources: Iterable[Source] | None,
    place: Place = NOWHERE,
    *,
    fix: str = "",
) -> None:
    """Raise PlanFileError naming what changed since the plan was made; `sources` None means they cannot be read."""
    changed = []
    if plan_file.inputs.fleet != fleet_digest(fleet):
        changed.append("the fleet")
    if sources is not None and plan_file.inputs.workloads != digest_documents(sources):
        changed.append("the workloads")
    if changed:
        verb = "have" if changed[-1] == "the workloads" or len(changed) > 1 else "has"
        raise PlanFileError(
            f"is stale: {' and '.join(changed)} {verb} changed since it was made",
            place=place,
            fix=fix or "run `pulumi-dra plan --stack STACK --write`",
        )


def _validated(document: dict[str, Any], place: Place, fix: str = "") -> PlanFile:
    try:
        return PlanFile.model_validate(document)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in problem["loc"])
        raise PlanFileError(
            f"is no plan document: {problem['msg']}", place=Place(place.file, place.line, path), fix=fix
        ) from None


def _canonical(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(document: Mapping[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(_canonical(document).encode()).hexdigest()
