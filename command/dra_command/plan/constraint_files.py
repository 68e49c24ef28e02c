"""The guards of a plan, or the cheapest fix that the simulation found, as a file.

Guards are a kustomize Component that patches manifests. A fix is such a Component, or keys to merge
into the fleet.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from dra_command.command_line.file_writer import write_whole
from dra_planner.errors import PlannerError
from dra_planner.plan import Plan
from dra_planner.plan.judgement.kustomize import guards_component
from dra_planner.plan.judgement.simulated_fixes import fix_patch, fix_sentence, is_for_manifests
from dra_planner.wording import counted

_FOR_MANIFESTS = (
    "A kustomize Component: save it as kustomization.yaml in a folder, and add the folder to "
    "`components`."
)
_GUARDS = (
    "Patches that add the plan's guards to the workloads, for clusters older than Kubernetes 1.36."
)
_FOR_FLEET = "Merge these keys into the fleet, and match pools by name."


def write_constraints(path: Path, plan: Plan) -> str:
    """Write the guards of the plan, or otherwise the cheapest fix. Return a sentence with the file
    name, or the reason why nothing was written.
    """
    if plan.guarded is not None:
        return _write_guards(path, plan)
    if plan.judgement.simulated is None:
        return (
            f"{path} isn't written, because the simulation didn't run (no packing places all "
            "pods, or the time limit was reached)"
        )
    if not plan.judgement.simulated.at_packing:
        return (
            f"{path} isn't written, because the plan doesn't need constraints. In every pod "
            "arrival order, the scheduler places all pods on the nodes in the packing"
        )
    assert plan.manifests is not None  # plans for manifests always contain them
    for fix in plan.judgement.fixes:
        patch = fix_patch(fix, plan.manifests, plan.offers)
        if patch is not None:
            sentence = fix_sentence(fix, plan.offers)
            _write(path, _text(sentence, patch))
            return f"wrote {path}: {sentence}"
    return (
        f"{path} isn't written. Within its time limit, the search didn't find a cheaper change "
        "that places all pods"
    )


def _write_guards(path: Path, plan: Plan) -> str:
    assert plan.manifests is not None  # plans for manifests always contain them
    patch, left = guards_component(plan.guards, plan.manifests)
    rest = (
        f"; add the guards of {', '.join(map(str, left))} to their manifests manually"
        if left
        else ""
    )
    if patch is None:
        return f"{path} isn't written, because no workload can be patched{rest}"
    _write(path, _text(_GUARDS.rstrip("."), patch))
    return (
        f"wrote {path}: patches for {counted(len(patch['patches']), 'workload')} that add the "
        f"guards{rest}"
    )


def _write(path: Path, text: str) -> None:
    """Write a file. If the file is a Component, also create its folder."""
    with suppress(OSError):  # if this fails, writing the file reports the reason
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text, PlannerError)


def _text(sentence: str, patch: dict[str, Any]) -> str:
    head = _FOR_MANIFESTS if is_for_manifests(patch) else _FOR_FLEET
    if is_for_manifests(patch):
        patches = [{**each, "patch": _Block(_dump(each["patch"]))} for each in patch["patches"]]
        patch = {**patch, "patches": patches}
    return f"# {sentence[0].upper()}{sentence[1:]}.\n# {head}\n{_dump(patch)}"


class _Block(str):
    """Text that YAML shows as a block of lines."""


class _Dumper(yaml.SafeDumper):
    """Writes `_Block`."""


def _represent_block(dumper: yaml.SafeDumper, text: _Block) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")


_Dumper.add_representer(_Block, _represent_block)


def _dump(data: object) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=1_000)
