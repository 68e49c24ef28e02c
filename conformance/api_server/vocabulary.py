"""Values for fields by the field's name: those the API takes, those at its limits, those beyond."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Plain:
    """A scalar written without quotes in YAML, for what its readers make of it."""

    text: str


LABELS: Final = ("a", "r0", "r1", "r2", "gpu", "gpu-0", "0", "a-b", "9a", "x" * 63, "true", "null")
SUBDOMAINS: Final = ("gpu.example.com", "a", "a.b", "n1", "x." * 126 + "x", "1.2", f"{'a' * 61}.b", "gpu.world.example")
BAD_NAMES: Final = (
    "", "A", "Gpu.example.com", "a_b", "a.b", "-a", "a-", "a..b", ".a", "a.", "a/b", "a b", "é", "x" * 64, "x" * 253,
    "x" * 254, "x." * 126 + "xx", "a\n", "\u0000", "🙂", "a//b", "/a", "a/", "*", "a:b",
)  # fmt: skip
ATTRIBUTES: Final = (
    "a", "model", "gpu.example.com/model", "a.b/c", "A", "_x", "x" * 32, f"{'a' * 61}.b/x", "GPU.example.com/x",
    "a/b/c", "gpu.example.com/" + "x" * 32, "dra.example.net/numaNode",
)  # fmt: skip
BAD_ATTRIBUTES: Final = (
    "", "1a", "a-b", "a.b", "x" * 33, "/a", "a/", "/", "a..b/c", "a_b/c", f"{'a' * 63}.b/x", "é", "a/é", "a//b", "a b",
    "gpu.example.com/" + "x" * 33, "gpu.example.com/1a",
)  # fmt: skip
QUALIFIED: Final = (
    "a", "a.b", "A_b", "example.com/a", "example.com/A.b_c-d", "x" * 63, "example.com/" + "x" * 63, "1",
    "EXAMPLE.com/a",
)  # fmt: skip
BAD_QUALIFIED: Final = (
    "",
    "-a",
    "a-",
    "a b",
    "/a",
    "a/",
    "a/b/c",
    "x" * 64,
    "exa_mple.com/a",
    "é",
    "x" * 254 + "/a",
    "_a",
)
LABEL_VALUES: Final = ("", "a", "A.b_c-d", "1", "x" * 63)
BAD_LABEL_VALUES: Final = ("-a", "a b", "a/b", "x" * 64, "é", "a\n", "_", ".")
EXPRESSIONS: Final = (
    "true",
    'device.driver == "gpu.example.com"',
    'device.attributes["gpu.example.com"].model == "a"',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("4Gi")) >= 0',
    'has(device.attributes["a"].b)',
    'device.attributes["a"].version.isGreaterThan(semver("1.2.3"))',
    "device.allowMultipleAllocations",
    'device.attributes["a"].list.includes("x")',
    'device.attributes.all(d, d == "a" || d != "b")',
    'cel.bind(dra, device.attributes["dra.example.com"], dra.oneBool && dra.anotherBool)',
    'device.driver.matches("^gpu")',
    'device.attributes["a"].?b.orValue(true)',
    "[1, 2].exists(x, x == 1)",
    'ip("127.0.0.1").family() == 4',
)
BAD_EXPRESSIONS: Final = (
    "",
    "1",
    '"a"',
    "device",
    "device.nothing",
    "1 +",
    "true &&",
    "device.driver == 1",
    "unknown",
    'device.attributes["a"].b > ',
    "size(device.driver)",
    "x" * 10241,
    "true || " * 1279 + "true",
    "[1,2,3,4].all(a, [1,2,3,4].all(b, [1,2,3,4].all(c, [1,2,3,4].all(d, [1,2,3].all(e, true)))))",
    "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, a != b && b != c)))",
    "é",
    "'\\",
)
QUANTITIES: Final = (
    "1", "10Gi", "500m", "0", 1, 8, "1e3", "1E", "0.5", "1Ki", "100", "2.5Gi", "1k", "1M", "010", "+1", "1.", ".5", 1.5,
    "9223372036854775807", "1000m", "1024Ki", 0, "1e-3", "1u", "3n", "1E3", "1.0",
)  # fmt: skip
BAD_QUANTITIES: Final = (
    "-1", "", "a", "1 Gi", "1gi", "1KB", "--1", "1e", "1e1.5", "0x10", "1,5", "9223372036854775808", "1e100", -5, True,
    [], {}, "1Ei1", "１", " 1", "1 ", "1e400", "-0", "1.5.5", "999999999999999999999", "1Zi", "0.0000000001", 1e30,
    "1_0",
)  # fmt: skip
COUNTS: Final = (0, 1, 2, 3, 32, 1.0)
BAD_COUNTS: Final = (-1, 33, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 1.5, "2", 1e3, 1e20, True)
VERSIONS: Final = ("1.2.3", "1.0.0-alpha.1+b5", "0.0.0", "10.20.30", "1.2.3-" + "a" * 58)
BAD_VERSIONS: Final = (
    "",
    "1.2",
    "v1.2.3",
    "01.2.3",
    "1.2.3-",
    "1.2.3+",
    "1.2.3.4",
    "1.2.3-01",
    "1.2.3-" + "a" * 59,
    "é",
)
TIMES: Final = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00.123456Z")
BAD_TIMES: Final = (
    "2026-01-01", "", "now", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", 0, "2026-01-01T24:00:00Z",
    "2026-01-01t00:00:00z", "2026-02-29T00:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00+25:00",
)  # fmt: skip
PLAIN: Final = (
    "yes", "no", "on", "off", "y", "n", "~", "null", "Null", "true", "True", "TRUE", "0o10", "010", "0x1F", "0b11",
    "1_000", "2e0", "1e3", ".5", "5.", "1.0", "+1", "-1", "12:30", "1:2:3", "2026-01-01", "2026-01-01T00:00:00Z",
    ".inf", ".nan", "=", "<<", "1.2.3", "10Gi", "0.1", "1e-7", "123456789012345678901", "0o8", "09", "-0", "0.0", "1E5",
    "!!str 1", "!!int '1'", "!!float 1", "'1'", "1__0", "0x", "-.INF", "190:20:30", "e1", "é",
    "2001-12-14 21:59:43.10 -5",
)  # fmt: skip
STRINGS: Final = ("", "a", "x" * 64, "x" * 65, "é" * 32, "é" * 33, "1", "true", "🙂", "a\nb", "\u0000", "x" * 257)
PARAMETERS: Final[tuple[Any, ...]] = (
    {}, {"apiVersion": "gpu.example.com/v1", "kind": "Config"}, {"a": {"b": [1, None, "x"]}}, {"a": 1.5},
    {"a": "x" * 10231},
)  # fmt: skip
BAD_PARAMETERS: Final[tuple[Any, ...]] = (
    [], "x", 1, True, {"a": "x" * 10240}, {"a": "é" * 5120}, "{}", [{}], {"a": "<" * 1700}, {"a": "x" * 10232},
)  # fmt: skip

NUMBERS: Final = (
    -1, 0, 0, 1, 1, 2, 3, 5, 10, 80, 100, 101, 255, 256, 420, 511, 512, 600, 3600, 3601, 8080, 65535, 65536, 70000,
    100001, 2**31 - 1,
)  # fmt: skip
AMOUNTS: Final = (0, 1, 2, -1, 80, 65536, "0%", "50%", "100%", "101%", "x", "http", "", "-1", "5", "1.5%", "a--b")
_PATHS: Final = ("/a", "/data", "a/b", "a", "$(A)/b")
_BAD_PATHS: Final = ("", "..", "../a", "a/../b", "/..", "..a", "...", "/a:b", " a")
_ADDRESSES: Final = ("10.0.0.1", "fd00::1", "::1", "0.0.0.0")
_BAD_ADDRESSES: Final = ("", "10.0.0", "10.0.0.256", "010.0.0.1", "::ffff:1.2.3.4", "a", "fe80::1%eth0", "10.0.0.1/8")
_NEAR_SUBDOMAINS: Final = (*BAD_NAMES, "A.b", "a_b.c", "a.b.")

BY_NAME: Final[dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]]] = {
    "name": (LABELS, BAD_NAMES),
    "request": (LABELS, BAD_NAMES),
    "counterSet": (LABELS, BAD_NAMES),
    "driver": ((*SUBDOMAINS[:4], "GPU.Example.com", f"{'a' * 61}.b"), (*BAD_NAMES, f"{'a' * 62}.b")),
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
    "operator": (("Exists", "Equal", "", "In", "NotIn", "DoesNotExist", "Gt", "Lt"), ("exists", "Other")),
    "effect": (("NoSchedule", "NoExecute", "None", ""), ("PreferNoSchedule", "noschedule")),
    "timeAdded": (TIMES, BAD_TIMES),
    "version": (VERSIONS, BAD_VERSIONS),
    "string": (STRINGS[1:3], STRINGS),
    "strings": (STRINGS[1:3], STRINGS),
    "versions": (VERSIONS, BAD_VERSIONS),
    "int": ((0, 1, -1, 2**63 - 1, 2.0), (2**63, 1.5, "1", True)),
    "ints": ((0, 1, -1, 2**63 - 1), (2**63, 1.5, "1")),
    "requests": (("r0", "r1", "r0/a0", "r1/a0"), ("", "r9", "r0/a9", "a/b/c", "R0", "r0/", "/r0", "r0/A")),
    "bindingConditions": (QUALIFIED, BAD_QUALIFIED),
    "bindingFailureConditions": (("f0", "f1", "example.com/failed"), BAD_QUALIFIED),
    "extendedResourceName": (
        ("example.com/gpu", "a.b/c"),
        ("gpu", "kubernetes.io/gpu", "requests.example.com/gpu", "example.com/", "Example.com/gpu", "example.com/gpu/x",
         "", "example.com/" + "x" * 64, "a.kubernetes.io/x", "x" * 244 + "/a", "x" * 245 + "/a"),
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
        ("mountPath", "path", "subPath", "subPathExpr", "devicePath", "localhostProfile", "directory"),
        (_PATHS, _BAD_PATHS),
    ),
    **dict.fromkeys(("ip", "hostIP", "nameservers"), (_ADDRESSES, _BAD_ADDRESSES)),
    **dict.fromkeys(
        ("hostnames", "searches", "serviceAccountName", "claimName", "secretName", "storageClassName", "serviceName",
         "hostname", "subdomain", "runtimeClassName", "topologyKey", "conditionType", "apiGroup", "handler"),
        (SUBDOMAINS, _NEAR_SUBDOMAINS),
    ),
    "image": (("a", "a:1", " "), ("", " a", "a ")),
    "fieldPath": (
        ("metadata.name", "metadata.labels['a']", "spec.nodeName", "status.podIP", "metadata.annotations['A.b/C']"),
        ("metadata.labels", "metadata", "spec.host", "status.phase", "metadata.labels['']", "metadata.name['a']", "",
         "metadata.labels['a b']", "spec.restartPolicy", "metadata.uid"),
    ),
    "resource": (
        ("limits.cpu", "requests.memory", "limits.ephemeral-storage", "limits.hugepages-2Mi"),
        ("cpu", "limits.gpu", "", "requests.hugepages-", "limits.example.com/gpu"),
    ),
    "divisor": (("1", "1m", "1Mi", "0"), ("2", "1k", "10Mi", "100m")),
    "schedule": (
        ("0 3 * * *", "@daily", "*/5 1-3 * jan mon"), ("", "0 3 * *", "60 * * * *", "@never", "TZ=UTC 0 3 * * *"),
    ),
    "timeZone": (("Etc/UTC", "Europe/Berlin", "UTC"), ("", "Local", "Mars/Base", "../etc", "UTC ", "europe/berlin")),
    "succeededIndexes": (("0", "1-3", "0,2-4", ""), ("8", "3-1", "1,1", "a", "1-2-3", "-1", "1,")),
    "runAsUserName": (("user", "DOMAIN\\user"), ("", "a\\b\\c", ".", "a/b", "x" * 105, "a\n", ".a\\b")),
    "managedBy": (("example.com/a", "kubernetes.io/job-controller"), ("", "a", "a/", "/a", "A/b", "x" * 60 + "/abcd")),
    "iqn": (("iqn.2001-04.com.example:a", "eui.0123456789abcdef"), ("", "iqn.x", "eui.1", "naa.1")),
    "scopeName": (
        ("PriorityClass", "Terminating", "BestEffort", "NotBestEffort", "VolumeAttributesClass"), ("Other", ""),
    ),
    "scopes": (("Terminating", "BestEffort", "NotTerminating", "NotBestEffort"), ("Other", "PriorityClass")),
    "finalizers": (("example.com/a", "orphan", "foregroundDeletion", "kubernetes"), ("a", "", "a b", "x/y/z")),
    "uid": (("u-1", "1"), ("",)),
    "kind": (("Deployment", "PersistentVolumeClaim", "Pod"), ("", "a/b", "..", "VolumeSnapshot", "a%b")),
    "apiVersion": (("apps/v1", "v1", ""), ("a/b/c", "/", "x/")),
}  # fmt: skip
KEYS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "attributes": (ATTRIBUTES, BAD_ATTRIBUTES),
    "capacity": (ATTRIBUTES, BAD_ATTRIBUTES),
    "counters": (LABELS, BAD_NAMES),
    "labels": (QUALIFIED, BAD_QUALIFIED),
    "annotations": (QUALIFIED, BAD_QUALIFIED),
    "hard": (
        ("pods", "cpu", "requests.cpu", "limits.memory", "requests.nvidia.com/gpu", "count/jobs.batch", "services",
         "persistentvolumeclaims", "requests.storage", "hugepages-2Mi", "requests.hugepages-2Mi", "storage"),
        ("gpu", "", "a/b/c", "-a", "requests.gpu", "limits.storage", "count/", "Pods"),
    ),
    "limits": (
        ("cpu", "memory", "example.com/gpu", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi"),
        ("gpu", "kubernetes.io/gpu", "", "example.com/", "requests.example.com/gpu", "a/b/c", "pods", "Example.com/x",
         "requests.cpu", "hugepages-", "example.com/" + "x" * 64, "hugepages-1", "storage", "-a", "requests.a/b"),
    ),
}  # fmt: skip


_AMOUNT_FIELDS: Final = (
    "requests", "overhead", "podFixed", "max", "min", "default", "defaultRequest", "maxLimitRequestRatio",
)  # fmt: skip


def pick(rng: random.Random, name: str, bad: float = 0.0) -> Any:
    """Return a value for a field of this name; one that may be refused with the probability `bad`."""
    good, wrong = BY_NAME.get(name, (STRINGS[1:2], STRINGS))
    return rng.choice(wrong if rng.random() < bad else good)


def pick_key(rng: random.Random, name: str, bad: float = 0.0) -> str:
    """Return a key for a mapping field of this name."""
    good, wrong = KEYS.get("limits" if name in _AMOUNT_FIELDS else name, (QUALIFIED, BAD_QUALIFIED))
    return rng.choice(wrong if rng.random() < bad else good)
