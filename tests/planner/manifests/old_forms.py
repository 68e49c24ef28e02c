"""Objects of v1 written as older releases had them, in many layouts: what rewriting must lead back
to the same object.

Written against kubernetes/api's types of each version, and apart from the code under test.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import yaml
from hypothesis import strategies as st

Data = dict[str, Any]
NAMES = st.sampled_from(["a", "b-1", "gpu", "on"])
EXPRESSIONS = st.sampled_from(
    [
        'device.driver == "gpu.example.com"',
        'device.attributes["a.example"].n == 1 ||\n  true',
        "'it\\'s' == \"x\"",
    ]
)
SELECTORS = st.lists(
    st.builds(lambda text: {"cel": {"expression": text}}, EXPRESSIONS), min_size=1, max_size=2
)
TOLERATIONS = st.just([{"key": "a.example/b", "operator": "Exists", "effect": "NoSchedule"}])


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Data]:
    return st.fixed_dictionaries({}, optional=fields)


EXACTLY = st.builds(
    lambda name, rest: {"deviceClassName": name, **rest},
    NAMES,
    optional(
        selectors=SELECTORS,
        count=st.integers(1, 4),
        tolerations=TOLERATIONS,
        adminAccess=st.just(False),
    ),
)
ALL = st.just({"deviceClassName": "gpu", "allocationMode": "All"})
REQUESTS = st.one_of(
    st.builds(lambda exactly: {"exactly": exactly}, EXACTLY | ALL),
    st.builds(
        lambda first, second: {
            "firstAvailable": [{"name": "first", **first}, {"name": "second", **second}]
        },
        st.just({"deviceClassName": "gpu", "count": 2}),
        st.just({"deviceClassName": "mig"}),
    ),
)


@st.composite
def claim_specs(draw: st.DrawFn) -> Data:
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    devices: Data = {"requests": [{"name": name, **draw(REQUESTS)} for name in names]}
    if draw(st.booleans()):
        devices["constraints"] = [{"requests": names[:1], "matchAttribute": "a.example/numa"}]
    if draw(st.booleans()):
        opaque = {
            "driver": "gpu.example.com",
            "parameters": {"kind": "Config", "on": True, "text": "a: b # c"},
        }
        devices["config"] = [{"requests": names[:1], "opaque": opaque}]
    return {"devices": devices}


@st.composite
def objects(draw: st.DrawFn) -> Data:
    kind = draw(
        st.sampled_from(["ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"])
    )
    body: Data = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "x", "labels": {"on": "yes"}},
    }
    if kind == "ResourceClaim":
        return {**body, "spec": draw(claim_specs())}
    if kind == "ResourceClaimTemplate":
        return {**body, "spec": {"metadata": {"labels": {"a": "1"}}, "spec": draw(claim_specs())}}
    if kind == "DeviceClass":
        return {**body, "spec": {"selectors": draw(SELECTORS)}}
    values = st.sampled_from([{"int": 3}, {"bool": True}, {"string": "40Gi"}, {"version": "1.2.3"}])
    devices = [
        {
            "name": f"gpu-{index}",
            "attributes": draw(
                st.dictionaries(st.sampled_from(["model", "a.example/numa"]), values)
            ),
            "capacity": draw(
                st.dictionaries(st.sampled_from(["memory", "cores"]), st.just({"value": "40Gi"}))
            ),
        }
        for index in range(draw(st.integers(1, 3)))
    ]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    return {
        **body,
        "spec": {"driver": "gpu.example.com", "nodeName": "n1", "pool": pool, "devices": devices},
    }


def as_written_for(version: str, new: Data) -> Data:
    """Return an object of v1 as this version has it."""
    old = copy.deepcopy(new)
    old["apiVersion"] = f"resource.k8s.io/{version}"
    if version == "v1beta2":
        return old
    spec = old["spec"]
    claim = spec.get("spec", spec)
    for request in (
        claim.get("devices", {}).get("requests", [])
        if old["kind"].startswith("ResourceClaim")
        else []
    ):
        request.update(request.pop("exactly", {}))
    if old["kind"] == "ResourceSlice":
        for device in spec["devices"]:
            basic = {key: device.pop(key) for key in ("attributes", "capacity")}
            if version == "v1alpha3":
                basic["capacity"] = {
                    key: value["value"] for key, value in basic["capacity"].items()
                }
            device["basic"] = basic
    return old


def shuffled(value: Any, random: random.Random) -> Any:
    """Return the same data with its keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    return [shuffled(item, random) for item in value] if isinstance(value, list) else value


class _Indented(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


@st.composite
def written(draw: st.DrawFn, data: Data) -> str:
    """Return the text of an object: JSON or YAML, with or without braces, in any order, with
    comments.
    """
    layout = draw(st.sampled_from(["block", "mixed", "indented", "flow", "json", "json-lines"]))
    order = draw(st.randoms(use_true_random=False))
    data = shuffled(data, order)
    if layout.startswith("json"):
        return json.dumps(data, indent=2 if layout == "json-lines" else None) + "\n"
    dumper = _Indented if layout == "indented" else yaml.SafeDumper
    flow = {"flow": True, "mixed": None}.get(layout, False)
    width = draw(st.sampled_from([40, 200]))
    text: str = yaml.dump(
        data, Dumper=dumper, default_flow_style=flow, sort_keys=False, width=width
    )
    return commented(text, order) if layout in ("block", "indented") else text


def commented(text: str, random: random.Random) -> str:
    """Add numbered comments above and after some complete lines."""
    lines: list[str] = []
    inside = False  # a scalar that spans several lines can't contain comments
    for number, line in enumerate(text.splitlines()):
        key = line.lstrip(" -").partition(":")[0]
        if key.isalnum() or "/" in key:
            inside = "expression" in line or "text" in line
        if not inside and random.random() < 0.3:
            pad = " " * (len(line) - len(line.lstrip()))
            lines.append(f"{pad}# above {number}")
        behind = (
            not inside and random.random() < 0.3 and not line.rstrip().endswith(("|", "|-", ">"))
        )
        lines.append(f"{line}  # behind {number}" if behind else line)
    return "\n".join(lines) + "\n"
