"""The guards Components in a stack's kustomizations, compared with the guards of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dra_command.inputs.kustomizations import GuardsFile
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Diagnostic, Place
from dra_planner.plan import Plan
from dra_planner.plan.judgement.kustomize import guards_component
from dra_planner.plan.model import GUARDS_OUTDATED


def find_outdated_guards(
    files: Iterable[GuardsFile], plan: Plan, stack: str
) -> Iterator[Diagnostic]:
    """Yield an error for each Component whose guards differ from the guards in the plan.

    A stack's plan reads manifests without their kustomizations, and adds its own guards, so its
    pods don't show what the Component adds.
    """
    for file in files:
        assert plan.manifests is not None  # plans for manifests always contain them
        made, _ = guards_component(plan.guards, plan.manifests)
        if _patches(file.data) != _patches(made or {}):
            yield Diagnostic(
                "error",
                GUARDS_OUTDATED,
                "the guards in this kustomize Component differ from the guards in the plan of stack "
                f'"{stack}", so the scheduler places pods differently than planned',
                Place(file.path),
                f"run `pulumi-dra plan --stack {stack} --constraints {file.path}`, or give each "
                "stack a kustomization with its own guards",
            )


def _patches(data: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return targets and operations in an order that doesn't depend on the order in the file."""
    found = [
        (each.get("target"), _operations(each.get("patch")))
        for each in data.get("patches") or ()
        if isinstance(each, Mapping)
    ]
    return sorted(found, key=repr)


def _operations(patch: Any) -> Any:
    """Return the operations of a patch, which is stored as text in the file."""
    if not isinstance(patch, str):
        return patch
    try:
        return read_yaml(patch)[0]
    except Fault:
        return patch
