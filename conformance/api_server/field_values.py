"""Values of fields and keys of mappings, by name: valid values, and others."""

from __future__ import annotations

import random
from typing import Any, Final

from vocabulary import (
    ATTRIBUTES,
    BAD_ATTRIBUTES,
    BAD_COUNTS,
    BAD_EXPRESSIONS,
    BAD_LABEL_VALUES,
    BAD_NAMES,
    BAD_PARAMETERS,
    BAD_QUALIFIED,
    BAD_QUANTITIES,
    BAD_TIMES,
    BAD_VERSIONS,
    COUNTS,
    EXPRESSIONS,
    LABEL_VALUES,
    LABELS,
    PARAMETERS,
    QUALIFIED,
    QUANTITIES,
    STRINGS,
    SUBDOMAINS,
    TIMES,
    VERSIONS,
)

_PATHS: Final = ("/a", "/data", "a/b", "a", "$(A)/b")
_BAD_PATHS: Final = ("", "..", "../a", "a/../b", "/..", "..a", "...", "/a:b", " a")
_ADDRESSES: Final = ("10.0.0.1", "fd00::1", "::1", "0.0.0.0")
_BAD_ADDRESSES: Final = (
    "",
    "10.0.0",
    "10.0.0.256",
    "010.0.0.1",
    "::ffff:1.2.3.4",
    "a",
    "fe80::1%eth0",
    "10.0.0.1/8",
)
_NEAR_SUBDOMAINS: Final = (*BAD_NAMES, "A.b", "a_b.c", "a.b.")

BY_NAME: Final[dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]]] = {
    "name": (LABELS, BAD_NAMES),
    "request": (LABELS, BAD_NAMES),
    "counterSet": (LABELS, BAD_NAMES),
    "driver": (
        (*SUBDOMAINS[:4], "GPU.Example.com", f"{'a' * 61}.b"),
        (*BAD_NAMES, f"{'a' * 62}.b"),
    ),
    "deviceClassName": (SUBDOMAINS, BAD_NAMES),
    "resourceClaimName": (SUBDOMAINS, BAD_NAMES),
    "resourceClaimTemplateName": (SUBDOMAINS, BAD_NAMES),
    "nodeName": (SUBDOMAINS, BAD_NAMES),
    "generateName": (("a-", "a", "a.b-", "x" * 248), ("A-", "-", "", "a.", "a_")),
    "expression": (EXPRESSIONS, BAD_EXPRESSIONS),
    "allocationMode": (("ExactCount", "All", ""), ("exactCount", "All ", "None", "ALL")),
    "count": (COUNTS, BAD_COUNTS),
    "generation": ((0, 1, 2**40), (-1, 2**63, "1", 1.5)),
    "resourceSliceCount": ((1, 2, 100), (0, -1, 2**63, "1")),
    "tolerationSeconds": ((0, 60, -1), ("60", 1.5, 2**63)),
    "matchAttribute": (ATTRIBUTES[2:4] + ATTRIBUTES[7:], (*ATTRIBUTES[:2], *BAD_ATTRIBUTES)),
    "distinctAttribute": (ATTRIBUTES[2:4] + ATTRIBUTES[7:], (*ATTRIBUTES[:2], *BAD_ATTRIBUTES)),
    "key": (QUALIFIED, BAD_QUALIFIED),
    "value": (LABEL_VALUES, BAD_LABEL_VALUES),
    "operator": (
        ("Exists", "Equal", "", "In", "NotIn", "DoesNotExist", "Gt", "Lt"),
        ("exists", "Other"),
    ),
    "effect": (("NoSchedule", "NoExecute", "None", ""), ("PreferNoSchedule", "noschedule")),
    "timeAdded": (TIMES, BAD_TIMES),
    "version": (VERSIONS, BAD_VERSIONS),
    "string": (STRINGS[1:3], STRINGS),
    "strings": (STRINGS[1:3], STRINGS),
    "versions": (VERSIONS, BAD_VERSIONS),
    "int": ((0, 1, -1, 2**63 - 1, 2.0), (2**63, 1.5, "1", True)),
    "ints": ((0, 1, -1, 2**63 - 1), (2**63, 1.5, "1")),
    "requests": (
        ("r0", "r1", "r0/a0", "r1/a0"),
        ("", "r9", "r0/a9", "a/b/c", "R0", "r0/", "/r0", "r0/A"),
    ),
    "bindingConditions": (QUALIFIED, BAD_QUALIFIED),
    "bindingFailureConditions": (("f0", "f1", "example.com/failed"), BAD_QUALIFIED),
    "extendedResourceName": (
        ("example.com/gpu", "a.b/c"),
        (
            "gpu",
            "kubernetes.io/gpu",
            "requests.example.com/gpu",
            "example.com/",
            "Example.com/gpu",
            "example.com/gpu/x",
            "",
            "example.com/" + "x" * 64,
            "a.kubernetes.io/x",
            "x" * 244 + "/a",
            "x" * 245 + "/a",
        ),
    ),
    "priorityClassName": (("high", "system-node-critical", ""), ("missing", "High")),
    "priority": ((0, 1000, 2000001000), (5, -1, 2**31, "0")),
    "restartPolicy": (("Always", "Never", "OnFailure"), ("always", "")),
    "default": (QUANTITIES, BAD_QUANTITIES),
    "min": (QUANTITIES, BAD_QUANTITIES),
    "max": (QUANTITIES, BAD_QUANTITIES),
    "step": (QUANTITIES, BAD_QUANTITIES),
    "parameters": (PARAMETERS, BAD_PARAMETERS),
    **dict.fromkeys(
        (
            "mountPath",
            "path",
            "subPath",
            "subPathExpr",
            "devicePath",
            "localhostProfile",
            "directory",
        ),
        (_PATHS, _BAD_PATHS),
    ),
    **dict.fromkeys(("ip", "hostIP", "nameservers"), (_ADDRESSES, _BAD_ADDRESSES)),
    **dict.fromkeys(
        (
            "hostnames",
            "searches",
            "serviceAccountName",
            "claimName",
            "secretName",
            "storageClassName",
            "serviceName",
            "hostname",
            "subdomain",
            "runtimeClassName",
            "topologyKey",
            "conditionType",
            "apiGroup",
            "handler",
        ),
        (SUBDOMAINS, _NEAR_SUBDOMAINS),
    ),
    "image": (("a", "a:1", " "), ("", " a", "a ")),
    "fieldPath": (
        (
            "metadata.name",
            "metadata.labels['a']",
            "spec.nodeName",
            "status.podIP",
            "metadata.annotations['A.b/C']",
        ),
        (
            "metadata.labels",
            "metadata",
            "spec.host",
            "status.phase",
            "metadata.labels['']",
            "metadata.name['a']",
            "",
            "metadata.labels['a b']",
            "spec.restartPolicy",
            "metadata.uid",
        ),
    ),
    "resource": (
        ("limits.cpu", "requests.memory", "limits.ephemeral-storage", "limits.hugepages-2Mi"),
        ("cpu", "limits.gpu", "", "requests.hugepages-", "limits.example.com/gpu"),
    ),
    "divisor": (("1", "1m", "1Mi", "0"), ("2", "1k", "10Mi", "100m")),
    "schedule": (
        ("0 3 * * *", "@daily", "*/5 1-3 * jan mon"),
        ("", "0 3 * *", "60 * * * *", "@never", "TZ=UTC 0 3 * * *"),
    ),
    "timeZone": (
        ("Etc/UTC", "Europe/Berlin", "UTC"),
        ("", "Local", "Mars/Base", "../etc", "UTC ", "europe/berlin"),
    ),
    "succeededIndexes": (("0", "1-3", "0,2-4", ""), ("8", "3-1", "1,1", "a", "1-2-3", "-1", "1,")),
    "runAsUserName": (
        ("user", "DOMAIN\\user"),
        ("", "a\\b\\c", ".", "a/b", "x" * 105, "a\n", ".a\\b"),
    ),
    "managedBy": (
        ("example.com/a", "kubernetes.io/job-controller"),
        ("", "a", "a/", "/a", "A/b", "x" * 60 + "/abcd"),
    ),
    "iqn": (("iqn.2001-04.com.example:a", "eui.0123456789abcdef"), ("", "iqn.x", "eui.1", "naa.1")),
    "scopeName": (
        ("PriorityClass", "Terminating", "BestEffort", "NotBestEffort", "VolumeAttributesClass"),
        ("Other", ""),
    ),
    "scopes": (
        ("Terminating", "BestEffort", "NotTerminating", "NotBestEffort"),
        ("Other", "PriorityClass"),
    ),
    "finalizers": (
        ("example.com/a", "orphan", "foregroundDeletion", "kubernetes"),
        ("a", "", "a b", "x/y/z"),
    ),
    "uid": (("u-1", "1"), ("",)),
    "kind": (
        ("Deployment", "PersistentVolumeClaim", "Pod"),
        ("", "a/b", "..", "VolumeSnapshot", "a%b"),
    ),
    "apiVersion": (("apps/v1", "v1", ""), ("a/b/c", "/", "x/")),
}
KEYS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "attributes": (ATTRIBUTES, BAD_ATTRIBUTES),
    "capacity": (ATTRIBUTES, BAD_ATTRIBUTES),
    "counters": (LABELS, BAD_NAMES),
    "labels": (QUALIFIED, BAD_QUALIFIED),
    "annotations": (QUALIFIED, BAD_QUALIFIED),
    "hard": (
        (
            "pods",
            "cpu",
            "requests.cpu",
            "limits.memory",
            "requests.nvidia.com/gpu",
            "count/jobs.batch",
            "services",
            "persistentvolumeclaims",
            "requests.storage",
            "hugepages-2Mi",
            "requests.hugepages-2Mi",
            "storage",
        ),
        ("gpu", "", "a/b/c", "-a", "requests.gpu", "limits.storage", "count/", "Pods"),
    ),
    "limits": (
        (
            "cpu",
            "memory",
            "example.com/gpu",
            "ephemeral-storage",
            "nvidia.com/gpu",
            "hugepages-2Mi",
        ),
        (
            "gpu",
            "kubernetes.io/gpu",
            "",
            "example.com/",
            "requests.example.com/gpu",
            "a/b/c",
            "pods",
            "Example.com/x",
            "requests.cpu",
            "hugepages-",
            "example.com/" + "x" * 64,
            "hugepages-1",
            "storage",
            "-a",
            "requests.a/b",
        ),
    ),
}


_AMOUNT_FIELDS: Final = (
    "requests",
    "overhead",
    "podFixed",
    "max",
    "min",
    "default",
    "defaultRequest",
    "maxLimitRequestRatio",
)


def pick(rng: random.Random, name: str, bad: float = 0.0) -> Any:
    """Return a value for a field with this name. `bad` is the probability of an invalid value."""
    good, wrong = BY_NAME.get(name, (STRINGS[1:2], STRINGS))
    return rng.choice(wrong if rng.random() < bad else good)


def pick_key(rng: random.Random, name: str, bad: float = 0.0) -> str:
    """Return a key for a mapping field with this name."""
    good, wrong = KEYS.get("limits" if name in _AMOUNT_FIELDS else name, (QUALIFIED, BAD_QUALIFIED))
    return rng.choice(wrong if rng.random() < bad else good)
