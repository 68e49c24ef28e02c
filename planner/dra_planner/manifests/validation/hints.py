"""Suggest a fix for a field that the API server rejects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from dra_planner.documents.yaml_advice import about_placeholder
from dra_planner.drivers import every_driver
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.schema import ApiType, fields_of, struct_of
from dra_planner.manifests.validation.attribute_domains import qualified_name_fix
from dra_planner.manifests.validation.field_paths import value_at
from dra_planner.manifests.validation.violations import Violation
from dra_planner.manifests.validation.wrong_types import wrong_type_fix

_BLANKS: Final = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]")
_POD_CLAIMS: Final = re.compile(
    r'"(?P<name>[^"]*)": must be one of the names in pod\.spec\.resourceClaims: (?P<known>.+)$'
)
_CONTAINER_REQUEST: Final = re.compile(r"resources\.claims\[\d+\]\.request$")
_QUOTED: Final = re.compile(r'Invalid value: "([^"]*)"')
_RESOURCE: Final = "resource.k8s.io"
_COMMON: Final = frozenset({"name", "namespace", "labels", "annotations", "type", "kind", "value"})
"""Fields that exist on many levels, so a wrong level doesn't explain them."""
_DEPTH: Final = 3  # number of levels below a field to search
_MOVED_IN_WORKLOADS: Final = (
    (
        r"^spec\.resourceClaimTemplates$",
        (
            "refer to a ResourceClaimTemplate in spec.template.spec.resourceClaims, because "
            "workloads don't create claims"
        ),
    ),
)
_MOVED: Final = (
    (
        r"volumes\[\d+\]\.(resourceClaim|claimRef)$",
        (
            "list the claim in the pod's resourceClaims and in the container's resources.claims, "
            "because a claim isn't a volume"
        ),
    ),
    (
        r"volumeClaimTemplate\.spec\.resourceClaim(Template)?Name$",
        (
            "list the claim in the pod's resourceClaims and in the container's resources.claims, "
            "because a claim isn't a volume"
        ),
    ),
    (
        r"resourceClaims\[\d+\]\.source$",
        (
            "move resourceClaimName or resourceClaimTemplateName from source to the resourceClaims "
            "entry, because Kubernetes 1.31 removed source"
        ),
    ),
    (
        r"requests\[\d+\]\.(deviceClassName|selectors|allocationMode|count|adminAccess|tolerations|capacity)$",
        "move the field under `exactly`, because only v1beta1 accepts it directly in the request",
    ),
    (
        r"^spec\.(spec\.)?(devices\.)?deviceClassName$",
        (
            "set the class in a request: devices: {requests: [{name: gpu, exactly: "
            "{deviceClassName: …}}]}"
        ),
    ),
    (
        r"devices\[\d+\]\.basic$",
        "remove `basic`, and move its fields up one level, because it exists only in v1beta1",
    ),
    (
        r"resourceClaims\[\d+\]\.(resourceClassName|deviceClassName)$",
        (
            "set resourceClaimTemplateName, and set the class in this ResourceClaimTemplate, "
            "because a pod can't refer to a class"
        ),
    ),
    (
        r"resourceClaims\[\d+\]\.resourceClaimTemplate$",
        "use resourceClaimTemplateName",
    ),
    (
        r"^spec\.(spec\.)?resourceClassName$",
        (
            "use devices: {requests: [{name: gpu, exactly: {deviceClassName: …}}]}, because "
            "Kubernetes 1.31 removed this form (v1alpha2)"
        ),
    ),
    (
        r"^spec\.(spec\.)?parametersRef$",
        (
            "move the content of the parameters under `devices` (count, selectors, …), because "
            "Kubernetes 1.31 removed parameter objects"
        ),
    ),
    (
        r"^spec\.(spec\.)?shareable$",
        (
            "remove shareable, because several pods can share any claim since Kubernetes 1.31. To "
            "give each pod its own claim, use a ResourceClaimTemplate"
        ),
    ),
    (
        r"^spec\.(spec\.)?(devices\.)?(requests\[\d+\]\.)?tolerations$",
        (
            "move the tolerations of device taints into a request: "
            "spec.devices.requests[].exactly.tolerations"
        ),
    ),
    (
        r"^spec\.(nodeSelector|nodeAffinity)$",
        (
            "move the field to the pod's spec, or select devices by an attribute, because a class "
            "or claim can't choose nodes"
        ),
    ),
    (
        r"requests\[\d+\]\.(exactly\.)?(constraints|config)$",
        "move constraints and config next to requests, because they apply to the whole claim",
    ),
    (
        r"suitableNodes$",
        "use device selectors to choose nodes, because Kubernetes 1.32 removed suitableNodes",
    ),
    (
        r"firstAvailable\[\d+\]\.adminAccess$",
        "use `exactly` instead of firstAvailable, because alternatives don't support adminAccess",
    ),
    (
        r"requests\[\d+\]\.firstAvailable\[\d+\]\.exactly$",
        "set the fields directly in the alternative",
    ),
)
_TEXTS: Final = (
    (
        "must not be specified when allocationMode is 'All'",
        "remove count, because All allocates every matching device",
    ),
    (
        'Unsupported value: "Immediate"',
        "remove allocationMode, because a claim is always allocated when its pod is scheduled",
    ),
    (
        'Unsupported value: "WaitForFirstConsumer"',
        "remove allocationMode, because every claim waits for its pod",
    ),
    ("must be greater than zero", "request 1 or more"),
    (
        "value must be empty when `operator` is 'Exists'",
        "remove value, because Exists matches every value of the key",
    ),
    ("effect must be 'NoExecute' when `tolerationSeconds` is set", "remove tolerationSeconds"),
    (
        "exactly one of `exactly` or `firstAvailable`",
        "set either `exactly` or, for alternatives, `firstAvailable`",
    ),
    (
        "admin access to devices requires",
        'add the label resource.kubernetes.io/admin-access: "true" to the namespace',
    ),
    (
        "must be one of the names in pod.spec.resourceClaims",
        "add the claim to the pod's spec.resourceClaims",
    ),
    ("at most one of `resourceClaimName`", "remove one of the two names"),
    (
        "must specify one of: `resourceClaimName`",
        ("set resourceClaimName or resourceClaimTemplateName"),
    ),
    (
        "`selector` does not match template `labels`",
        "add the labels of spec.selector to the template",
    ),
    ("Limit must be set for non overcommitable", "set the same amount in limits"),
    ("may not be 0 when `maxSurge` is 0", "set maxUnavailable or maxSurge to 1"),
    ("must be between 1 and 65535, inclusive", "use a port number between 1 and 65535"),
    ("may not specify more than 1 volume type", "remove all but one type from the volume"),
    (
        "must be a standard resource",
        (
            "use a name with a domain and a slash, for example nvidia.com/gpu, or list a claim "
            "under resources.claims"
        ),
    ),
)


_UNQUALIFIED: Final = ("a fully qualified name must be", "must include a domain")
_FIELDS: Final = (
    (
        "FieldValueNotFound",
        r"volume(Mounts|Devices)\[\d+\]\.name$",
        "add a volume with this name to the pod's volumes, or remove the mount",
    ),
    (
        "FieldValueRequired",
        r"\.(liveness|readiness|startup)Probe$",
        "add exec, httpGet, tcpSocket, or grpc to the probe",
    ),
    (
        "FieldValueRequired",
        r"\.lifecycle\.(preStop|postStart)$",
        "add exec, httpGet, or sleep to the hook",
    ),
    ("FieldValueDuplicate", r"\.name$", "rename or remove one of the entries with this name"),
    (
        "FieldValueInvalid",
        r"volumeMounts\[\d+\]\.mountPath$",
        "use a different mountPath for each volume, without colons",
    ),
)
"""The fixes of fields, by the reason of the violation."""
_NAMES: Final = "must consist of lower case alphanumeric characters"


def hint(item: KubernetesObject, violation: Violation, minor: int) -> str:
    """Return the fix for a violation, or "" if the violation's text already explains the fix."""
    if fix := _claim_name(violation.text):
        return fix
    if any(part in violation.text for part in _UNQUALIFIED):
        return qualified_name_fix(item.data, violation.field)
    for part, text in _TEXTS:
        if part in violation.text:
            return text
    for reason, pattern, text in _FIELDS:
        if violation.reason == reason and re.search(pattern, violation.field):
            return text
    if violation.text.endswith("`minReplicas`"):
        return f"set minReplicas to {value_at(item.data, violation.field)} or less"
    if _CONTAINER_REQUEST.search(violation.field) and "/" in str(
        value_at(item.data, violation.field)
    ):
        request = str(value_at(item.data, violation.field)).partition("/")[0]
        return (
            f"use the request's name \"{request}\", because containers can't select an alternative"
        )
    if _NAMES in violation.text:
        return _name(
            _rejected_name(item, violation),
            dots="" if "RFC 1123 label" in violation.text else ".",
        )
    if violation.reason == "UnknownField" and _tolerates_nodes(item, violation.field):
        return "move the tolerations of node taints to the pod's spec.tolerations"
    if violation.reason == "UnknownField":
        return _unknown(item, violation.field, minor)
    if violation.reason == "Decode":
        return wrong_type_fix(item.data, violation.field, violation.text)
    if violation.reason == "FieldValueRequired":
        return _required(violation)
    return _supported(violation.text) if violation.reason == "FieldValueNotSupported" else ""


def _required(violation: Violation) -> str:
    """Return which field to set, or "" if the violation's text has details."""
    name = violation.field.rpartition(".")[2]
    return f"set the field {name}" if violation.text == "Required value" and name.isalpha() else ""


def _tolerates_nodes(item: KubernetesObject, field: str) -> bool:
    """Return whether a claim's unknown field has tolerations for taints that clouds and pools set
    on nodes.
    """
    value = value_at(item.data, field) if field.endswith("tolerations") else None
    keys = [each.get("key") for each in value or () if isinstance(each, dict)]
    known = {name for each in every_driver() for name in each.plugin_resources}
    return bool(keys) and all(key in known for key in keys)


def _rejected_name(item: KubernetesObject, violation: Violation) -> Any:
    """Return the rejected name. The path of an alias, such as serviceAccount, isn't in the object,
    so the violation's text quotes the name.
    """
    value = value_at(item.data, violation.field)
    quoted = _QUOTED.search(violation.text) if value is None else None
    return quoted[1] if quoted else value


def _claim_name(text: str) -> str:
    """Return the pod's claim that a container's misspelled name probably means, or ""."""
    found = _POD_CLAIMS.search(text)
    if found is None:
        return ""
    near = get_close_matches(found["name"], found["known"].split(", "), 1)
    return f"did you mean {near[0]}?" if near else ""


def _supported(text: str) -> str:
    """Return the supported value that was probably meant."""
    given, _, supported = text.partition(": supported values: ")
    values = re.findall(r'"([^"]*)"', supported)
    if len(values) == 1:
        return f"use {values[0]}"
    written = "".join(re.findall(r'"([^"]*)"$', given))
    near = get_close_matches(written.lower(), [value.lower() for value in values], 1)
    return next((f"use {value}" for value in values if near and value.lower() == near[0]), "")


def _name(value: Any, dots: str) -> str:
    """Return the valid name that was probably meant."""
    text = str(value)
    class_name = next(
        (each.plugin_resources[text] for each in every_driver() if text in each.plugin_resources),
        "",
    )
    if class_name:
        return f"use the DeviceClass {class_name}, because {text} is an extended resource"
    if placeholder := about_placeholder(text):
        return placeholder
    near = re.sub(rf"[^a-z0-9{dots}-]+", "-", text.lower()).strip("-.")
    return f'use "{near}"' if near else ""


def _moved(item: KubernetesObject, path: str) -> str:
    """Return where the content of an unknown field belongs now, or "" if no table has the field."""
    for pattern, text in _MOVED_IN_WORKLOADS:
        if re.search(pattern, path):
            return text
    for pattern, text in _MOVED:
        is_of_claims = pattern.startswith("^spec") and item.group != _RESOURCE
        if re.search(pattern, path) and not is_of_claims:
            return text
    return ""


def _unknown(item: KubernetesObject, path: str, minor: int) -> str:
    if moved := _moved(item, path):
        return moved
    if item.kind == "ResourceClaim" and path == "spec.spec":
        return "remove this level, because only a ResourceClaimTemplate has a nested spec"
    if _BLANKS.search(path):
        return "indent this line with plain spaces instead of non-breaking spaces"
    struct = struct_of(item.api_version, item.kind)
    node, kind, name = _parent(item.data, ApiType("struct", name=struct or ""), path, minor)
    fields = fields_of(kind.name, minor)
    for sibling, sibling_kind in fields.items():
        if sibling in node and node[sibling] is None and _holds(sibling_kind, name, minor):
            return f"indent this field under {sibling}"
    below = [
        sibling
        for sibling, sibling_kind in sorted(fields.items())
        if _holds(sibling_kind, name, minor)
    ]
    if len(below) == 1:
        return f"move this field under {'.'.join([*path.split('.')[:-1], below[0]])}"
    if name not in _COMMON and (level := _level_of(item, path, minor)):
        return f"move this field under {level}"
    near = get_close_matches(name, fields, n=1, cutoff=0.7) or [
        field for field in fields if field.lower() == name.lower()
    ]
    if near:
        return f"did you mean {near[0]}?"
    return (
        f"use one of the known fields: {', '.join(sorted(fields))}"
        if 0 < len(fields) <= 12
        else "remove it"
    )


def _level_of(item: KubernetesObject, path: str, minor: int) -> str:
    """Return the path of the level to which an unknown field belongs.

    This is the nearest level above that has the field, otherwise the nearest level below. Returns
    "" if there is no such level, or if there are several.
    """
    steps = path.split(".")
    root = ApiType("struct", name=struct_of(item.api_version, item.kind) or "")
    for end in range(len(steps) - 1, 1, -1):
        above = ".".join(steps[: end - 1])
        _, kind, _ = _parent(item.data, root, f"{above}.{steps[-1]}", minor)
        if _holds(kind, steps[-1], minor):
            return above
    _, kind, name = _parent(item.data, root, path, minor)
    levels = [(".".join(steps[:-1]), kind)]
    for _ in range(_DEPTH):
        levels = [
            (f"{where}.{field}", below)
            for where, each in levels
            if each.kind == "struct"
            for field, below in sorted(fields_of(each.name, minor).items())
        ]
        found = [where for where, each in levels if _holds(each, name, minor)]
        if found:
            return found[0] if len(found) == 1 else ""
    return ""


def _holds(kind: ApiType, name: str, minor: int) -> bool:
    return kind.kind == "struct" and name in fields_of(kind.name, minor)


def _parent(data: Any, kind: ApiType, path: str, minor: int) -> tuple[dict[str, Any], ApiType, str]:
    """Follow a path to the mapping that contains its last step. Return the mapping, its type, and
    that step.
    """
    steps = list(_steps(path))
    for step in steps[:-1]:
        if isinstance(step, int):
            data = data[step] if isinstance(data, list) and step < len(data) else None
            kind = kind.item or kind
        else:
            data = data.get(step) if isinstance(data, dict) else None
            kind = (
                fields_of(kind.name, minor).get(step, kind)
                if kind.kind == "struct"
                else kind.item or kind
            )
    last = steps[-1] if steps else ""
    return (data if isinstance(data, dict) else {}), kind, str(last)


def _steps(path: str) -> Iterator[str | int]:
    for part in path.split("."):
        name, *indexes = part.split("[")
        if name:
            yield name
        for index in indexes:
            text = index.rstrip("]")
            yield int(text) if text.isdigit() else text
