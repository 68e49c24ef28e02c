"""The plan file as text: sealed, written, read, and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dra_planner.errors import NOWHERE, Place, PlanFileError
from dra_planner.planfile.digest import canonical, digest
from dra_planner.planfile.schema import VERSION, PlanFile

RECORD_TYPE = "pulumi-dra:index:CapacityPlan"
"""Type token of the component that passes the plan file through the engine. It's registered
first.
"""

RECORD_DOCUMENT = "document"
"""Its input: the plan file as one canonical JSON text, because the engine passes numbers as
floats.
"""


def plan_path(stack: str, project: Path = Path()) -> Path:
    """Return the path of a stack's plan file."""
    return project / "stacks" / f"{stack}.plan.json"


def seal(content: Mapping[str, Any]) -> PlanFile:
    """Return a plan file for this content, with its new `version` and `digest`.

    Raises PlanFileError if the content isn't a plan file.
    """
    document = {key: value for key, value in content.items() if key != "digest"} | {
        "version": VERSION
    }
    return read_document({**document, "digest": digest(document)})


def canonical_text(plan_file: PlanFile) -> str:
    """Return the plan file on one line with sorted keys, as the CapacityPlan resource contains
    it.
    """
    return canonical(plan_file.document())


def file_text(plan_file: PlanFile) -> str:
    """Return the plan file as stored in a repository: indented, with sorted keys and a final
    newline.
    """
    return json.dumps(plan_file.document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_plan_file(path: Path, *, stack: str = "", command: str = "") -> PlanFile:
    """Return a plan file.

    `command` is the command that writes it (default: the command for the stack). Raises
    PlanFileError if it's missing, invalid, or edited by hand.
    """
    command = command or f"pulumi-dra plan --stack {stack or 'STACK'} --write"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PlanFileError(f"the plan file {path} doesn't exist", fix=f"run `{command}`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PlanFileError(f"{path} can't be read: {error}", fix=f"run `{command}`") from None
    return parse_document(text, Place(str(path)), fix=f"run `{command}`")


def parse_document(
    text: str,
    place: Place = NOWHERE,
    *,
    fix: str = "create the plan file again: `pulumi-dra plan --stack STACK --write`",
) -> PlanFile:
    """Return the plan file in a text after checking its digest. Raises PlanFileError."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        raise PlanFileError(
            f"isn't valid JSON: {error}", place=Place(place.file, line), fix=fix
        ) from None
    if not isinstance(document, dict):
        raise PlanFileError("isn't a plan file, because it isn't a mapping", place=place, fix=fix)
    version = document.get("version")
    if version != VERSION:
        has = "has no version" if version is None else f"has version {version!r}"
        raise PlanFileError(
            f"{has}, but pulumi-dra requires version {VERSION}",
            place=place,
            fix=fix,
        )
    content_digest = digest({key: value for key, value in document.items() if key != "digest"})
    if document.get("digest") != content_digest:
        raise PlanFileError(
            "doesn't match its digest, so someone changed it by hand",
            place=place,
            fix=fix,
        )
    return read_document(document, place, fix=fix)


def read_document(
    document: Mapping[str, Any],
    place: Place = NOWHERE,
    *,
    fix: str = "create the plan file again: `pulumi-dra plan --stack STACK --write`",
) -> PlanFile:
    """Return the plan file in plain data without checking its digest. Raises PlanFileError."""
    try:
        return PlanFile.model_validate(document)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in problem["loc"])
        raise PlanFileError(
            f"isn't a plan file: {problem['msg']}",
            place=Place(place.file, place.line, path),
            fix=fix,
        ) from None
