"""The reader's results, in the form of the server's responses."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from client import Answer

from dra_planner.errors import ManifestError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.manifests.validation.context import Context, ExistingObjects
from dra_planner.manifests.validation.stored_form import stored_form
from dra_planner.manifests.validation.verdict import judge
from dra_planner.plan import check_selector
from dra_planner.releases import Features
from dra_planner.sources import Source

WORLD: Final = Path(__file__).resolve().parent / "world.yaml"
MODES: Final = {"Strict": "strict", "Ignore": "lenient", "Apply": "apply"}
_INDEX: Final = re.compile(r"\[\d+\]")


def objects_of(text: str) -> list[KubernetesObject]:
    """Return the objects in a text. Raises ManifestError if it can't be read."""
    return read_objects(read_documents([Source("manifest", text)])[0])


@cache
def context_of(features: Features) -> Context:
    """Return the reader's context: the Kubernetes version, and the objects in `world.yaml`, which
    are the only existing objects.
    """
    kinds: dict[str, list[KubernetesObject]] = {}
    for item in objects_of(WORLD.read_text("utf-8")):
        kinds.setdefault(item.kind, []).append(item)
    quotas = [dict(item.data) for item in kinds["ResourceQuota"]]
    for quota in quotas:
        quota["status"] = {"used": dict.fromkeys(quota["spec"]["hard"], "0")}
    cluster = ExistingObjects(
        namespaces={"default": {}}
        | {item.name: item.metadata.get("labels") or {} for item in kinds["Namespace"]},
        priority_classes={item.name: int(item.data["value"]) for item in kinds["PriorityClass"]},
        non_preempting=frozenset(
            item.name
            for item in kinds["PriorityClass"]
            if item.data.get("preemptionPolicy") == "Never"
        ),
        classes={
            item.name: str((item.data.get("spec") or {}).get("extendedResourceName") or "")
            for item in kinds["DeviceClass"]
        },
        quotas=quotas,
        complete=True,
    )
    return Context(features=features, cluster=cluster, check_selector=check_selector)


def answer(text: str, features: Features, mode: str = "Strict") -> Answer:
    """Return the reader's findings for the only object in a text, and the object that it expects to
    be stored.

    An error in the reader itself is also a result, so that the comparison reports it.
    """
    try:
        (item,) = objects_of(text)
        context = context_of(features)
        verdict = judge(item, context, mode=MODES[mode])  # type: ignore[arg-type]
        if verdict.accepted:
            return Answer("", stored=stored_form(item, context))
    except ManifestError as error:
        return Answer("unreadable", message=str(error))
    except Exception as error:
        return Answer("fault", message=f"{type(error).__name__}: {error}")
    faults = frozenset((violation.field, violation.reason) for violation in verdict.violations)
    return Answer(verdict.reason, faults, message="; ".join(map(str, verdict.violations)))


def sent(text: str) -> Any:
    """Return a text's object as it was written, to find dropped and filled-in fields."""
    (item,) = objects_of(text)
    return item.data
