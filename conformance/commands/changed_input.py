"""Apply the change from a plan to manifests and a fleet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

import yaml

from dra_planner.allocation.extended_resource_claims import CLAIM_NAME
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.manifests import Manifests, render_claim_spec, render_pod_spec
from dra_planner.model import ClaimSpec, PodSet, Shape, Workload
from dra_planner.plan import Plan
from dra_planner.plan.judgement.kustomize import spec_path
from dra_planner.plan.judgement.simulated_fixes import fix_patch, is_for_manifests
from dra_planner.plan.model import JointFix
from dra_planner.simulation import Fix

Object = dict[str, Any]


class NotWrittenError(Exception):
    """The manifest doesn't have a field for a part of the change."""


def changed_text(text: str, plan: Plan, found: JointFix) -> str:
    """Return manifests with the changed pods, claims, and quotas. Raises NotWrittenError if a
    controller writes the pods or claims of the change.
    """
    assert plan.manifests is not None  # plans for documents always contain them
    objects = list(_objects(text))
    for raised in found.quotas:
        quota = _object(objects, "ResourceQuota", *raised.quota)
        quota["spec"]["hard"][raised.resource] = raised.limit
    after = {
        (member.workload, member.pod_set): shape
        for shape in found.demand.shapes
        for member in shape.members
    }
    given = plan.demand if plan.guarded is None else plan.guarded.free.demand
    for shape in given.shapes:
        for member in shape.members:
            changed = after[member.workload, member.pod_set]
            if (changed.pod, changed.claims) != (shape.pod, shape.claims):
                workload, pods = _pod_set(plan.manifests, member.workload, member.pod_set)
                _change_pods(objects, _spec(objects, workload, pods), shape, changed)
    return "\n---\n".join(json.dumps(each) for each in objects)


def with_replaced_texts(text: str, changes: Sequence[tuple[str, str]]) -> str:
    """Return the manifests in which texts in values are replaced, or the same manifests if no text
    occurs.
    """

    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: replaced(each) for key, each in value.items()}
        if isinstance(value, list):
            return [replaced(each) for each in value]
        if isinstance(value, str):
            for old, new in changes:
                value = value.replace(old, new)
        return value

    objects = list(_objects(text)) if changes else []
    changed = [replaced(each) for each in objects]
    return text if changed == objects else yaml.safe_dump_all(changed, sort_keys=False)


def changed_fleet(plan: Plan, fix: Fix) -> Fleet | None:
    """Return the fleet of a plan with the fix of the simulation, or None if the fix changes
    manifests.
    """
    assert plan.manifests is not None
    assert plan.fleet is not None
    patch = fix_patch(fix, plan.manifests)
    if patch is None or is_for_manifests(patch):
        return None
    document = plan.fleet.document()
    rows = {row["name"]: row for row in patch.get("pools", ())}
    pools = [_merged(pool, rows.get(pool["name"], {})) for pool in document["pools"]]
    return read_fleet({**document, **patch, "pools": pools})


def _merged(before: Any, patch: Any) -> Any:
    if not (isinstance(before, dict) and isinstance(patch, dict)):
        return patch
    return {**before, **{key: _merged(before.get(key), value) for key, value in patch.items()}}


def _objects(text: str) -> Iterator[Object]:
    for document in yaml.safe_load_all(text):
        if isinstance(document, dict):
            items = document.get("items")
            listed = str(document.get("kind", "")).endswith("List") and isinstance(items, list)
            yield from items if listed else [document]


def _pod_set(manifests: Manifests, ref: Any, name: str) -> tuple[Workload, PodSet]:
    for workload in manifests.workloads:
        for pods in workload.pod_sets:
            if workload.ref == ref and pods.name == name:
                return workload, pods
    raise NotWrittenError(f"{ref} isn't in the manifests")


def _spec(objects: list[Object], workload: Workload, pods: PodSet) -> Object:
    path = spec_path(workload, pods)
    if path is None:
        raise NotWrittenError(f"{workload.ref} has no pod template")
    found: Any = _object(objects, workload.ref.kind, workload.ref.namespace, workload.ref.name)
    for part in path.strip("/").split("/"):
        found = found[int(part) if part.isdigit() else part]
    spec: Object = found
    return spec


def _object(objects: list[Object], kind: str, namespace: str, name: str) -> Object:
    for each in objects:
        meta = each.get("metadata") or {}
        known = (each.get("kind"), meta.get("namespace", "default"), meta.get("name"))
        if known == (kind, namespace, name):
            return each
    raise NotWrittenError(f"{kind} {namespace}/{name} isn't in the manifests")


def _change_pods(objects: list[Object], spec: Object, before: Shape, after: Shape) -> None:
    old, new = render_pod_spec(before.pod), render_pod_spec(after.pod)
    for key in {*old, *new} - {"resourceClaims", "containers", "nodeSelector"}:
        if old.get(key) != new.get(key):
            spec[key] = new.get(key)
    _change_requests(spec, old, new)
    for key in old.get("nodeSelector", {}).keys() - new.get("nodeSelector", {}).keys():
        written = _selector(objects, spec, before.pod.selected_by.get(key, ""))
        del written[key]
    for key in new.get("nodeSelector", {}).keys() - old.get("nodeSelector", {}).keys():
        spec.setdefault("nodeSelector", {})[key] = new["nodeSelector"][key]
    for was, claim in zip(before.claims, after.claims, strict=True):
        if (was.spec, was.shared) == (claim.spec, claim.shared):
            continue
        if claim.shared is not None:
            shared = _object(objects, "ResourceClaim", *claim.shared)
            shared["spec"] = render_claim_spec(claim.spec)
            continue
        if claim.name == CLAIM_NAME:
            _change_resources(spec, was.spec, claim.spec)
            continue
        entries = [each for each in spec.get("resourceClaims", ()) if each["name"] == claim.name]
        if not entries:
            raise NotWrittenError(f"claim {claim.name} has no entry in the pod")
        template = f"changed-{len(objects)}"
        entries[0].pop("resourceClaimName", None)
        entries[0]["resourceClaimTemplateName"] = template
        objects.append(_template(objects, before.namespace, template, claim.spec))


def _change_requests(spec: Object, old: Object, new: Object) -> None:
    for container, was, now in zip(
        spec["containers"], old["containers"], new["containers"], strict=True
    ):
        if was != now:
            resources = container.setdefault("resources", {})
            for name, amount in now.get("resources", {}).get("requests", {}).items():
                if was.get("resources", {}).get("requests", {}).get(name) != amount:
                    resources.setdefault("requests", {})[name] = amount
    if old.get("resources") != new.get("resources"):
        spec["resources"] = new.get("resources")


def _selector(objects: list[Object], spec: Object, owner: str) -> Object:
    """Return the selector of the pod, or of the object that adds labels to it."""
    if not owner:
        selector: Object = spec["nodeSelector"]
        return selector
    path, _, title = owner.partition(" of ")
    kind, _, name = title.partition(" ")
    found: Any = _object(objects, kind, "default", name)
    for part in path.split("."):
        found = found[part]
    return cast("Object", found)


def _change_resources(spec: Object, before: ClaimSpec, after: ClaimSpec) -> None:
    """Change the amount of an extended resource to the count in its implicit claim."""
    for was, now in zip(before.requests, after.requests, strict=True):
        if was.exactly is None or now.exactly is None or was.exactly.count == now.exactly.count:
            continue
        amounts = [
            each
            for container in spec["containers"]
            for each in (container.get("resources") or {}).values()
            if isinstance(each, dict)
        ]
        for each in amounts:
            for name, amount in each.items():
                if "/" in name and str(amount) == str(was.exactly.count):
                    each[name] = str(now.exactly.count)


def _template(objects: list[Object], namespace: str, name: str, spec: Any) -> Object:
    served = [
        each["apiVersion"]
        for each in objects
        if str(each.get("apiVersion", "")).startswith("resource.k8s.io/")
    ]
    return {
        "apiVersion": "resource.k8s.io/v1" if not served else served[0],
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": render_claim_spec(spec)},
    }
