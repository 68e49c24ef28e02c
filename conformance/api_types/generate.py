"""Write the table of API fields that is used to decode manifests, from the published Go types of
Kubernetes.

    python conformance/api_types/generate.py   # needs Go, and k8s.io/api from the module proxy

For every type, the table contains the names of its fields, their types, and the minor versions that
have them.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path

TABLE = Path(__file__).parents[2] / "planner/dra_planner/manifests/schema/types.json"
RELEASES = {34: "v0.34.9", 35: "v0.35.7", 36: "v0.36.3", 37: "v0.37.2", 38: "v0.38.0-alpha.2"}
PACKAGES = {
    "core": "k8s.io/api/core/v1",
    "apps": "k8s.io/api/apps/v1",
    "batch": "k8s.io/api/batch/v1",
    "autoscaling": "k8s.io/api/autoscaling/v2",
    "scheduling": "k8s.io/api/scheduling/v1",
    "policy": "k8s.io/api/policy/v1",
    "node": "k8s.io/api/node/v1",
    "groups": "k8s.io/api/scheduling/v1alpha3",
    "resource": "k8s.io/api/resource/v1",
    "meta": "k8s.io/apimachinery/pkg/apis/meta/v1",
}
ALIASES = {
    "v1": "core",
    "apiv1": "core",
    "corev1": "core",
    "metav1": "meta",
    "resourcev1": "resource",
    "schedulingv1alpha3": "groups",
}
KINDS = {
    "v1": (
        "core",
        (
            "Pod PodTemplate ReplicationController Node Namespace ResourceQuota LimitRange "
            "PersistentVolumeClaim"
        ),
    ),
    "apps/v1": ("apps", "Deployment ReplicaSet StatefulSet DaemonSet"),
    "batch/v1": ("batch", "Job CronJob"),
    "autoscaling/v2": ("autoscaling", "HorizontalPodAutoscaler"),
    "scheduling.k8s.io/v1": ("scheduling", "PriorityClass"),
    "policy/v1": ("policy", "PodDisruptionBudget"),
    "node.k8s.io/v1": ("node", "RuntimeClass"),
    "resource.k8s.io/v1": (
        "resource",
        "ResourceClaim ResourceClaimTemplate DeviceClass ResourceSlice DeviceTaintRule",
    ),
}
SCALARS = {
    "string": "string",
    "bool": "bool",
    "int": "int64",
    "int32": "int32",
    "int64": "int64",
    "uint8": "int32",
    "byte": "int32",
    "float64": "float",
    "resource.Quantity": "quantity",
    "intstr.IntOrString": "int-or-string",
    "meta.Time": "time",
    "meta.MicroTime": "time",
    "meta.Duration": "string",
    "types.UID": "string",
    "runtime.RawExtension": "any",
    "meta.FieldsV1": "fields",
    "[]byte": "string",
}
FIELD = re.compile(r"^\t(?:(\w+)\s+)?([\w.\[\]*{}]+)\s+`(.*)`")
DECLARATION = re.compile(r"^type (\w+) (.+)$")


def main() -> None:
    """Write the table."""
    merged: dict[str, dict[str, dict[int, str]]] = {}
    minors: dict[str, list[int]] = {}
    for minor, version in RELEASES.items():
        for name, fields in read_release(version).items():
            minors.setdefault(name, []).append(minor)
            for field, kind in fields.items():
                merged.setdefault(name, {}).setdefault(field, {})[minor] = kind
    types = {
        name: {field: describe(kinds, minors[name]) for field, kinds in sorted(fields.items())}
        for name, fields in sorted(merged.items())
    }
    kinds = {
        f"{version} {kind}": f"{package}.{kind}"
        for version, (package, names) in KINDS.items()
        for kind in names.split()
        if f"{package}.{kind}" in types
    }
    document = {
        "source": {f"1.{minor}": f"k8s.io/api {version}" for minor, version in RELEASES.items()},
        "kinds": kinds,
        "types": types,
    }
    lines = json.dumps(document, indent=1, sort_keys=True)
    TABLE.write_text(re.sub(r'",\n   "', '", "', lines) + "\n")


def describe(kinds: dict[int, str], present: list[int]) -> str:
    """Return a field's type. If only some minor versions have the field, the text also contains
    these versions.
    """
    (kind,) = {kinds[max(kinds)]}
    if sorted(kinds) == present:
        return kind
    first, last = min(kinds), max(kinds)
    return f"{kind} @{first if first > present[0] else ''}-{last if last < present[-1] else ''}"


def read_release(version: str) -> dict[str, dict[str, str]]:
    """Return the fields of every type that the kinds use directly or indirectly."""
    sources = {package: read_package(path, version) for package, path in PACKAGES.items()}
    declared = {
        f"{package}.{name}": body
        for package, types in sources.items()
        for name, body in types.items()
    }
    fields: dict[str, dict[str, str]] = {}
    pending = [f"{package}.{kind}" for package, names in KINDS.values() for kind in names.split()]
    while pending:
        name = pending.pop()
        if name in fields or name not in declared or isinstance(declared[name], str):
            continue
        fields[name] = {}
        for field, kind in expand(declared[name], name.partition(".")[0], declared):
            fields[name][field] = kind
            pending.append(re.sub(r"^(?:\[[^\]]*\]|\{\})+", "", kind))
    return fields


def read_package(path: str, version: str) -> dict[str, object]:
    """Return the declarations of a package: the lines of a struct, or the text of another type."""
    module = "k8s.io/api" if path.startswith("k8s.io/api/") else "k8s.io/apimachinery"
    with tempfile.TemporaryDirectory() as folder:
        command = ["go", "mod", "download", "-json", f"{module}@{version}"]
        output = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True
        ).stdout
    root = Path(json.loads(output)["Dir"]) / path.removeprefix(module).lstrip("/")
    declared: dict[str, object] = {}
    for file in sorted(root.glob("*.go")):
        if not file.name.endswith("_test.go") and not file.name.startswith("zz_generated"):
            read_types(file.read_text().splitlines(), declared)
    return declared


def read_types(lines: list[str], declared: dict[str, object]) -> None:
    """Collect the type declarations of one file."""
    body: list[str] | None = None
    for line in lines:
        match = DECLARATION.match(line)
        if body is not None:
            if line.startswith("}"):
                body = None
            else:
                body.append(line)
        elif match and match[2].startswith("struct {"):
            body = []
            declared[match[1]] = body
        elif match:
            declared[match[1]] = match[2].removeprefix("= ")


def expand(body: object, package: str, declared: dict[str, object]) -> list[tuple[str, str]]:
    """Return the JSON names and types of a struct's fields, including the fields of inlined
    structs.
    """
    found: list[tuple[str, str]] = []
    markers: list[str] = []
    for line in body if isinstance(body, list) else []:
        text = line.strip()
        if text.startswith("//"):
            markers.append(text.removeprefix("//").strip())
            continue
        match = FIELD.match(line)
        if match is None:
            markers = markers if text else []
            continue
        tag = re.search(r'json:"([^"]*)"', match[3])
        name, _, options = (tag[1] if tag else "").partition(",")
        go_type = match[2].lstrip("*")
        if "inline" in options or (not name and match[1] is None):
            inner = qualify(go_type, package)
            found += expand(declared.get(inner), inner.partition(".")[0], declared)
        elif name and name != "-":
            found.append((name, resolve(go_type, package, declared, markers)))
        markers = []
    return found


def qualify(go_type: str, package: str) -> str:
    """Return the name of a type with the short name of its package."""
    prefix, dot, name = go_type.rpartition(".")
    if not dot:
        return f"{package}.{go_type}"
    return f"{ALIASES.get(prefix, prefix)}.{name}"


def resolve(go_type: str, package: str, declared: dict[str, object], markers: list[str]) -> str:
    """Return the type in the table's notation: a scalar, a struct's name, `[]` (list), `[key,…]`
    (list with keys), `[=]` (set), or `{}` (mapping).
    """
    go_type = go_type.lstrip("*")
    if go_type == "[]byte":
        return "string"
    if go_type.startswith("[]"):
        keys = [marker.partition("=")[2] for marker in markers if marker.startswith("+listMapKey=")]
        bracket = (
            "[" + ",".join(keys) + "]" if keys else "[=]" if "+listType=set" in markers else "[]"
        )
        return bracket + resolve(go_type[2:], package, declared, [])
    if go_type.startswith("map["):
        return "{}" + resolve(go_type.partition("]")[2], package, declared, [])
    name = go_type if go_type in SCALARS else qualify(go_type, package)
    if name in SCALARS:
        return SCALARS[name]
    body = declared.get(name)
    if isinstance(body, str):
        return resolve(body, name.partition(".")[0], declared, markers)
    return name if body is not None else "any"


if __name__ == "__main__":
    main()
