"""Change Kueue's objects: quotas of extended resources become quotas of devices in claims.

A quota is replaced if every job of its queue migrates. Otherwise it stays, and the queue gets a
second quota for claims, because Kueue never admits a job that requests a resource without a quota.
A flavor that selects nodes by GPU labels then gets a second flavor, which selects DRA nodes.

Source: kubernetes-sigs/kueue:keps/2941-DRA@ff69552 (deviceClassMappings),
pkg/webhooks/clusterqueue_webhook.go@053cc11 (each resource and flavor is in one group, and each
flavor lists its resources in the order of the group).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.plain_values import (
    block,
    blocks,
    indexed_blocks,
    labels,
    number,
    plain,
    text,
    texts,
)
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.device_plugins import is_about_devices
from dra_planner.migration.editor import Editor, NotEditable, Path
from dra_planner.migration.kueue.queues import GROUP, Queues
from dra_planner.wording import listed

_DRA_NODES: Final = {"nvidia.com/gpu.dra": "true"}
_LIMITS: Final = ("nominalQuota", "borrowingLimit", "lendingLimit")
LogicalName = Callable[[str], tuple[str, str]]
"""The name of a resource's quota for claims, and its DeviceClass; "" for other resources."""
Wanted = Mapping[str, Sequence[str]]
"""The names of quotas for claims, each with the extended resources that it replaces."""


class QueueChange(Struct, frozen=True):
    """The changes of an object, and the new flavors that it needs, in API form."""

    changes: Sequence[str] = ()
    flavors: Sequence[Mapping[str, Any]] = ()


def is_queue_object(item: KubernetesObject) -> bool:
    """Return whether an object is a Kueue object that a migration can change."""
    return item.group == GROUP and item.kind in ("ResourceFlavor", "ClusterQueue", "Cohort")


def migrate_queue_object(
    editor: Editor,
    prefix: Path,
    item: KubernetesObject,
    queues: Queues,
    logical_name: LogicalName,
) -> QueueChange:
    """Change a flavor, queue, or cohort in place. `queues` has the results of all workloads.

    Raises NotEditable.
    """
    split = {name for name in queues.flavors if _is_split(name, queues, logical_name)}
    if item.kind == "ResourceFlavor":
        if item.name in split and f"{item.name}-dra" in queues.flavors:
            return QueueChange()
        return _migrate_flavor(editor, prefix, item, is_split=item.name in split)
    return _migrate_quotas(editor, prefix, item, queues, logical_name, split)


def _migrate_quotas(
    editor: Editor,
    prefix: Path,
    item: KubernetesObject,
    queues: Queues,
    logical_name: LogicalName,
    split: Collection[str],
) -> QueueChange:
    groups = block(item.data, "spec").get("resourceGroups")
    wanted = {index: _wanted(group, logical_name) for index, group in indexed_blocks(groups)}
    _check_groups(wanted)
    resources, members = _resources(item.data, logical_name), queues.members(item)
    is_moved = queues.is_moved(members, resources)
    changed: list[str] = []
    for index, group in indexed_blocks(groups):
        path: Path = (*prefix, "spec", "resourceGroups", index)
        change = _replace if is_moved else _add
        changed += change(editor, path, group, wanted[index], split)
    user = queues.still_used(members, resources)
    reason = (
        f"{user} still requests it"
        if user
        else "the manifests might not contain every job in the queue"
    )
    return QueueChange([
        f"{new} {_instead(olds, '' if is_moved else reason)}: add {{name: {new}, "
        f"deviceClassNames: [{logical_name(olds[0])[1]}]}} to "
        "resources.deviceClassMappings in Kueue's configuration (Kueue 0.18 or later)"
        for names in wanted.values()
        for new, olds in names.items()
        if new in changed
    ])  # fmt: skip


def _instead(olds: Sequence[str], reason: str) -> str:
    names = listed(olds)
    if not reason:
        return f"replaces {names}"
    return (
        f"is added, and the quota for {names} stays, because {reason}. The two quotas are counted "
        "separately, so move quota to the new resource as you move the jobs"
    )


def _wanted(group: Mapping[str, Any], logical_name: LogicalName) -> Wanted:
    found: dict[str, list[str]] = {}
    for resource in texts(group.get("coveredResources")):
        if new := logical_name(resource)[0]:
            found.setdefault(new, []).append(resource)
    return found


def _check_groups(wanted: Mapping[int, Wanted]) -> None:
    """Raise NotEditable if several groups need the same quota, which only one group can have."""
    seen = set[str]()
    for names in wanted.values():
        if twice := seen & names.keys():
            raise NotEditable(
                f"several resource groups need a quota for {min(twice)}, but only one group can "
                "have it, so merge the groups"
            )
        seen |= names.keys()


def _resources(queue: Mapping[str, Any], logical_name: LogicalName) -> set[str]:
    groups = blocks(block(queue, "spec"), "resourceGroups")
    return {old for each in groups for olds in _wanted(each, logical_name).values() for old in olds}


def _is_split(flavor: str, queues: Queues, logical_name: LogicalName) -> bool:
    """Return whether jobs that use the device plugin might still need the nodes of a flavor."""
    if not any(map(is_about_devices, labels(queues.flavors[flavor].get("nodeLabels")))):
        return False
    users = {
        name: resources
        for name, spec in queues.cluster_queues.items()
        if flavor in _flavor_names(spec) and (resources := _resources({"spec": spec}, logical_name))
    }
    moved = [queues.is_moved([name], resources) for name, resources in users.items()]
    return not moved or not all(moved)


def _flavor_names(spec: Mapping[str, Any]) -> set[str]:
    groups = blocks(spec, "resourceGroups")
    return {text(each.get("name")) for group in groups for each in blocks(group, "flavors")}


def _replace(
    editor: Editor,
    path: Path,
    group: Mapping[str, Any],
    wanted: Wanted,
    split: Collection[str],
) -> Iterator[str]:
    """Replace the quotas in a group, and yield their new names."""
    for new, olds in wanted.items():
        is_new = new not in texts(group.get("coveredResources"))
        if is_new:
            for place in list(_places(editor, path, olds[0])):
                editor.replace_text(place, new)
        for old in olds[1:] if is_new else olds:
            if is_new:
                _add_quota(editor, path, old, new)
            for place in list(_places(editor, path, old)):
                editor.remove(place if "coveredResources" in place else place[:-1])
        yield new
    for index, flavor in indexed_blocks(group.get("flavors")):
        if text(flavor.get("name")) in split:
            editor.replace_text((*path, "flavors", index, "name"), _twin(flavor))


def _places(editor: Editor, path: Path, resource: str) -> Iterator[Path]:
    """Yield the paths of a resource's name in a group, with the path in coveredResources last."""
    group = editor.get(path)
    for index, flavor in indexed_blocks(group.get("flavors")):
        for row, quota in indexed_blocks(flavor.get("resources")):
            if quota.get("name") == resource:
                yield (*path, "flavors", index, "resources", row, "name")
    yield (*path, "coveredResources", texts(group.get("coveredResources")).index(resource))


def _add_quota(editor: Editor, path: Path, old: str, new: str) -> None:
    """Add the quota of one resource to the quota of another, in each flavor."""
    rows = zip(_places(editor, path, old), _places(editor, path, new), strict=True)
    for source, target in list(rows)[:-1]:
        amounts = [editor.get((*each[:-1], "nominalQuota")) for each in (source, target)]
        total = sum(number(each) or 0 for each in amounts)
        editor.replace_text((*target[:-1], "nominalQuota"), str(total))


def _add(
    editor: Editor,
    path: Path,
    group: Mapping[str, Any],
    wanted: Wanted,
    split: Collection[str],
) -> Iterator[str]:
    """Add quotas for claims to a group, and yield their names."""
    added = [new for new in wanted if new not in texts(group.get("coveredResources"))]
    flavors = list(indexed_blocks(group.get("flavors")))
    if added:
        editor.append((*path, "coveredResources"), added)
    for index, flavor in flavors:
        is_split = text(flavor.get("name")) in split
        rows = [_row(flavor, wanted[new], new, is_empty=is_split) for new in added]
        if rows:
            editor.append((*path, "flavors", index, "resources"), rows)
    names = {text(flavor.get("name")) for _, flavor in flavors}
    twins = [_flavor_twin(flavor, wanted, added) for _, flavor in flavors
             if text(flavor.get("name")) in split and _twin(flavor) not in names]  # fmt: skip
    if twins:
        editor.append((*path, "flavors"), twins)
    yield from added


def _row(
    flavor: Mapping[str, Any], olds: Sequence[str], new: str, *, is_empty: bool
) -> dict[str, Any]:
    """Return the quota of a flavor for claims, which is the sum of its extended resources'
    quotas.
    """
    if is_empty:
        return {"name": new, "nominalQuota": 0}
    rows = [each for each in blocks(flavor, "resources") if each.get("name") in olds]
    found: dict[str, Any] = {"name": new}
    for key in _LIMITS:
        amounts = [number(each[key]) or 0 for each in rows if key in each]
        if amounts:
            found[key] = sum(amounts)
    return found


def _flavor_twin(flavor: Mapping[str, Any], wanted: Wanted, added: Sequence[str]) -> dict[str, Any]:
    """Return the quotas for the second flavor: the same quotas, without extended resources."""
    old = {name for olds in wanted.values() for name in olds}
    rows = [
        {"name": each.get("name"), "nominalQuota": 0} if each.get("name") in old else dict(each)
        for each in blocks(flavor, "resources")
    ]
    rows += [_row(flavor, wanted[new], new, is_empty=False) for new in added]
    return dict(plain({**flavor, "name": _twin(flavor), "resources": rows}))


def _twin(flavor: Mapping[str, Any]) -> str:
    return f"{text(flavor.get('name'))}-dra"


def _migrate_flavor(
    editor: Editor, prefix: Path, item: KubernetesObject, *, is_split: bool
) -> QueueChange:
    """Change a flavor to select DRA nodes, or return a second flavor that selects them."""
    path: Path = (*prefix, "spec", "nodeLabels")
    found = labels(editor.get(path))
    gone = [key for key in found if is_about_devices(str(key))]
    if not gone:
        return QueueChange()
    wanted = {**{key: value for key, value in found.items() if key not in gone}, **_DRA_NODES}
    keys = listed(map(str, gone))
    if is_split:
        name = f"{item.name}-dra"
        spec = {**block(item.data, "spec"), "nodeLabels": wanted}
        twin = {**item.data, "metadata": {"name": name}, "spec": spec}
        reason = (
            f"because DRA nodes might lack {keys}, and device plugin jobs still need {item.name}"
        )
        return QueueChange([f"the new flavor {name} selects DRA nodes, {reason}"], [plain(twin)])
    editor.set(path, wanted)
    return QueueChange([
        f"nodeLabels selects DRA nodes instead of {keys}, because DRA nodes might not have these "
        "labels. The jobs' claims select the devices"
    ])  # fmt: skip
