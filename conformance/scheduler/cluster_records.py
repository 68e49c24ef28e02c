"""Record a cluster: its objects without the fields that the API server fills in, and without unused
fields. The objects are written in few lines, because there are many of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from kubectl_apply import LAST_APPLIED

Json = dict[str, Any]
_WIDTH: Final = 118

_META: Final = ("managedFields", "resourceVersion", "generation", "finalizers")
_CONDITIONS: Final = ("Ready", "PodScheduled", "Complete", "Failed", "SuccessCriteriaMet")
_OF_PODS: Final = ("dnsPolicy", "schedulerName", "securityContext", "enableServiceLinks")
_OF_CONTAINERS: Final = ("imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy")
_OF_STATUS: Final = (
    "containerStatuses",
    "qosClass",
    "capacity",
    "observedGeneration",
    "collisionCount",
    "daemonEndpoints",
)
_OF_OWNERS: Final = (
    "progressDeadlineSeconds",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
)


def recorded(case: Json) -> Json:
    """Return a case without unused fields."""
    return {
        **case,
        "cluster": [_plain(each) for each in case["cluster"] if not _is_of_kubernetes(each)],
    }


def write_case(folder: Path, case: Json, name: str) -> None:
    """Write a case to `folder` as YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(
        f"{key}:\n{_items(value)}" if _is_long(value) else _flow({key: value})
        for key, value in case.items()
    )
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def _is_long(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _items(objects: list[Json]) -> str:
    flows = (
        yaml.safe_dump(each, default_flow_style=True, sort_keys=False, width=_WIDTH)
        for each in objects
    )
    return "".join("- " + flow.rstrip("\n").replace("\n", "\n  ") + "\n" for flow in flows)


def _flow(fields: Json) -> str:
    style = None if any(isinstance(each, (dict, list)) for each in fields.values()) else False
    return yaml.safe_dump(fields, default_flow_style=style, sort_keys=False, width=_WIDTH)


def _is_of_kubernetes(item: Json) -> bool:
    name = (
        item["metadata"]["name"]
        if item["kind"] == "Namespace"
        else item["metadata"].get("namespace", "")
    )
    return bool(name.startswith("kube-"))


def _plain(item: Json) -> Json:
    found = {**item, "metadata": _without(item["metadata"], _META)}
    # its Deployment has the same value
    if item["kind"] == "ReplicaSet" and "annotations" in found["metadata"]:
        found["metadata"]["annotations"] = _without(
            found["metadata"]["annotations"], (LAST_APPLIED,)
        )
    spec = dict(_without(item.get("spec") or {}, _OF_OWNERS))
    if item["kind"] == "Pod":
        spec = _pod(spec)
    elif "containers" in spec.get("template", {}).get("spec", {}):
        spec["template"] = {**spec["template"], "spec": _pod(spec["template"]["spec"])}
    status = _without(item.get("status") or {}, _OF_STATUS)
    if "nodeInfo" in status:
        status["nodeInfo"] = {"kubeletVersion": status["nodeInfo"]["kubeletVersion"]}
    if "conditions" in status:
        status["conditions"] = [
            {key: each[key] for key in ("type", "status", "reason") if key in each}
            for each in status["conditions"]
            if each["type"] in _CONDITIONS
        ]
    return found | ({"spec": spec} if spec else {}) | ({"status": status} if status else {})


def _pod(spec: Json) -> Json:
    containers = [_without(each, _OF_CONTAINERS) for each in spec["containers"]]
    return {**_without(spec, _OF_PODS), "containers": containers}


def _without(fields: Json, names: tuple[str, ...]) -> Json:
    return {key: value for key, value in fields.items() if key not in names}
