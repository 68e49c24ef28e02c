"""Write the constraints of custom resources from their definitions (CRDs).

    python conformance/api_constraints/run.py FOLDER            report differences
    python conformance/api_constraints/run.py FOLDER --write    write the tables

FOLDER contains the definitions, as the README lists them. Enums and ranges go to the table
`api_values`, all other constraints to `api_constraints`. Rules with an unknown form are printed. If
a row of `resource_rows` restates such a rule, its place is listed in `RESTATED`.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from validation_rules import restated, rules_of

DATA = Path(__file__).parents[2] / "planner/dra_planner/data"
VALUES = ("type", "property", "kind", "value", "grows", "source")
CONSTRAINTS = ("type", "property", "kind", "value", "source")
# file → version and source
DEFINITIONS = {
    "karpenter.k8s.aws_ec2nodeclasses.yaml": ("v1", "karpenter-crds"),
    "karpenter.sh_nodepools.yaml": ("v1", "karpenter-crds"),
    "karpenter.sh_nodeoverlays.yaml": ("v1alpha1", "karpenter-crds"),
    "karpenter.azure.com_aksnodeclasses.yaml": ("v1beta1", "karpenter-azure-crds"),
    "karpenter.k8s.gcp_gcenodeclasses.yaml": ("v1alpha1", "karpenter-gcp-crds"),
    "resource.nvidia.com_computedomains.yaml": ("v1beta1", "nvidia-dra-crds"),
    "nvidia.com_clusterpolicies.yaml": ("v1", "gpu-operator-crds"),
    "nvidia.com_nvidiadrivers.yaml": ("v1alpha1", "gpu-operator-crds"),
    "kueue.x-k8s.io_clusterqueues.yaml": ("v1beta2", "kueue-crds"),
    "kueue.x-k8s.io_localqueues.yaml": ("v1beta2", "kueue-crds"),
    "kueue.x-k8s.io_resourceflavors.yaml": ("v1beta2", "kueue-crds"),
}
# The chart of Azure's Karpenter has its own definition of NodePool, with more rules about labels.
VARIANTS = {"azure.nodepools.yaml": ("v1", "karpenter-azure-crds")}
# Charts whose values become the spec of an object.
CHARTS = {"nvidia.com/v1/ClusterPolicy": "chart:gpu-operator"}
# Parts that Kubernetes itself defines. The rules for pods check them.
OF_PODS = {
    "affinity",
    "annotations",
    "env",
    "livenessProbe",
    "nodeAffinity",
    "podSecurityContext",
    "readinessProbe",
    "relabelings",
    "resources",
    "startupProbe",
    "tolerations",
}
# Rules that need more than one row and are restated by hand: path → rows.
_CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
_AKS = "kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass"
_GCE = "kubernetes:karpenter.k8s.gcp/v1alpha1:GCENodeClass"
_QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
RESTATED: dict[tuple[str, str], tuple[int, list[tuple[str, str, str]]]] = {
    (_CLASS, "spec"): (
        7,
        [
            ("amiSelectorTerms[]", "never", f"alias~^{alias}@ and ^.amiFamily!={family}|Custom")
            for alias, family in (
                ("al2", "AL2"),
                ("al2023", "AL2023"),
                ("bottlerocket", "Bottlerocket"),
                ("windows2019", "Windows2019"),
                ("windows2022", "Windows2022"),
                ("windows2025", "Windows2025"),
            )
        ]
        + [("amiSelectorTerms[]", "never", "!alias and !^.amiFamily")],
    ),
    (_CLASS, "spec.networkInterfaces"): (
        1,
        [("", "different items", "networkCardIndex|deviceIndex")],
    ),
    ("kubernetes:karpenter.sh/v1:NodePool", "spec"): (
        1,
        [
            ("limits", "never", "cpu and ^.replicas"),
            ("limits", "never", "memory and ^.replicas"),
            ("limits", "never", "nvidia%2Ecom/gpu and ^.replicas"),
        ],
    ),
    (_AKS, "spec"): (
        4,
        [
            ("", "never", "fipsMode=FIPS and !imageFamily"),
            ("", "never", "fipsMode=FIPS and imageFamily=Ubuntu2404"),
            (
                "",
                "never",
                "fipsMode=FIPS and imageFamily=Ubuntu2204 and "
                "!security.trustedLaunch.vtpm=true and !security.trustedLaunch.secureBoot=true",
            ),
            (
                "",
                "never",
                "fipsMode=FIPS and imageFamily=AzureLinux and security.trustedLaunch.vtpm=true",
            ),
            (
                "",
                "never",
                "fipsMode=FIPS and imageFamily=AzureLinux and "
                "security.trustedLaunch.secureBoot=true",
            ),
            ("", "never", "linuxOSConfig.swapFileSize and !kubelet.failSwapOn=false"),
        ],
    ),
    # The pattern checks the digits of the ports, but not the order of the ports.
    (_AKS, "spec.linuxOSConfig.sysctls"): (
        3,
        [
            (
                "netIPv4IPLocalPortRange",
                "pattern",
                "^(102[4-9]|10[3-9][0-9]|1[1-9][0-9]{2}|[2-9][0-9]{3}|[1-5][0-9]{4}|60[0-9]{3}) "
                "(3276[89]|327[7-9][0-9]|32[89][0-9]{2}|3[3-9][0-9]{3}|[4-5][0-9]{4}|6[0-4][0-9]{3}|"
                "65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$",
            )
        ],
    ),
    (_AKS, "spec.localDNS.vnetDNSOverrides"): (
        1,
        [("[]", "never", r"zone!~(^\.|cluster\.local)$ and forwardDestination=ClusterCoreDNS")],
    ),
    (_GCE, "spec.disks[]"): (
        1,
        [
            (
                "",
                "never",
                "category~^hyperdisk-balanced and provisionedIOPS and !provisionedThroughput",
            ),
            (
                "",
                "never",
                "category~^hyperdisk-balanced and !provisionedIOPS and provisionedThroughput",
            ),
        ],
    ),
    # no row states that a channel and the version "latest" can't be in different terms
    (_GCE, "spec.imageSelectorTerms"): (1, []),
    (_GCE, "spec.imageSelectorTerms[]"): (
        4,
        [
            (
                "",
                "never",
                "family=ContainerOptimizedOS and version and "
                r"version!~^(latest|[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+)$",
            ),
            (
                "",
                "never",
                "family=Ubuntu2204|Ubuntu2404 and version and version!~^(latest|v[0-9]{8})$",
            ),
            ("", "never", "family=Ubuntu"),
        ],
    ),
    (_GCE, "spec.kubeletConfiguration"): (
        2,
        [
            ("", "same keys", "evictionSoft|evictionSoftGracePeriod"),
        ],
    ),
    ("kubernetes:nvidia.com/v1alpha1:NVIDIADriver", "spec"): (
        1,
        [("", "never", "default=true and nodeSelector")],
    ),
    (_QUEUE, "spec"): (
        1,
        [("resourceGroups[].flavors[].resources[]", "never", "borrowingLimit and !^^^.cohortName")],
    ),
    (_QUEUE, "spec.flavorFungibility"): (
        1,
        [
            ("", "only with", "preference|whenCanBorrow=TryNextFlavor"),
            ("", "only with", "preference|whenCanPreempt=TryNextFlavor"),
        ],
    ),
    (_QUEUE, "spec.preemption"): (
        1,
        [("", "never", "reclaimWithinCohort=Never and borrowWithinCohort.policy!=Never")],
    ),
    (_QUEUE, "spec.resourceGroups[]"): (
        1,
        [("flavors[]", "never", "resources#!=^.coveredResources")],
    ),
    ("kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor", "spec"): (
        1,
        [("", "needs", "topologyName|nodeLabels")],
    ),
    ("kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor", "spec.nodeTaints"): (
        1,
        [("[].effect", "pattern", "^(NoSchedule|PreferNoSchedule|NoExecute)$")],
    ),
}
SCALARS = {"string", "integer", "number", "boolean", "array", "object"}

Row = dict[str, str]


class Definition:
    """The rows of one definition."""

    def __init__(self, token: str, source: str) -> None:
        self.token, self.source = token, source
        self.unknown: list[str] = []

    def rows(self, schema: Mapping[str, Any], path: str) -> Iterator[Row]:
        """Yield the rows of a part of the schema, and of all parts below it."""
        if path.rpartition(".")[2].strip("[]{}") in OF_PODS:
            return
        yield from self._own(schema, path)
        members = schema.get("properties", {})
        for name, below in members.items():
            yield from self.rows(below, f"{path}.{name}".removeprefix("."))
        for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
            if isinstance(schema.get(key), dict):
                yield from self.rows(schema[key], f"{path}{mark}")

    def _own(self, schema: Mapping[str, Any], path: str) -> Iterator[Row]:
        members = schema.get("properties", {})
        if members and not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield self.row(path, "types", "|".join(f"{k}:{_type(v)}" for k, v in members.items()))
        if required := [each for each in schema.get("required", ()) if each]:
            with_default = {key for key, each in members.items() if "default" in each}
            if needed := [each for each in required if each not in with_default]:
                yield self.row(path, "required", "|".join(needed))
        if "enum" in schema:
            yield self.row(path, "values", "|".join(map(str, filter(None, schema["enum"]))))
        kinds = (
            ("range", "imum"),
            ("length", "Length"),
            ("count", "Items"),
            ("count", "Properties"),
        )
        for kind, suffix in kinds:
            low, high = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
            if low is not None or high is not None:
                texts = ("" if each is None else str(each) for each in (low, high))
                yield self.row(path, kind, " to ".join(texts).strip())
        if "pattern" in schema:
            yield self.row(path, "pattern", schema["pattern"])
        unknown: list[str] = []
        for rule in rules_of(schema):
            found = restated(rule)
            if found is None:
                unknown.append(f"{self.token} {path}: {rule}")
            for suffix, kind, value in found or ():
                yield self.row(f"{path}{suffix}", kind, value)
        count, rows = RESTATED.get((self.token, path), (0, []))
        if len(unknown) != count:
            self.unknown += unknown
        for below, kind, value in rows:
            glue = "." if below and not below.startswith("[") else ""
            yield self.row(f"{path}{glue}{below}", kind, value)

    def row(self, path: str, kind: str, value: str) -> Row:
        found = (self.token, path, kind, value, self.source)
        return dict(zip(CONSTRAINTS, found, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    found, unknown = rows_of_definitions(arguments.folder)
    sources = {source for _, source in (*DEFINITIONS.values(), *VARIANTS.values())}
    differs = False
    for table, columns in (("api_values", VALUES), ("api_constraints", CONSTRAINTS)):
        file = DATA / f"{table}.csv"
        written = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        others = [row for row in written if row["source"] not in sources]
        rows = [{"grows": "", **row} for row in found if _table(row) == table]
        rows = [{key: row[key] for key in columns} for row in rows]
        text = _csv(columns, sorted((*others, *rows), key=_place))
        differs = differs or text != file.read_text(encoding="utf-8")
        if arguments.write:
            file.write_text(text, encoding="utf-8")
    print("\n".join(unknown))
    print(f"{len(found)} rows, {len(unknown)} rules of unknown form")
    return int(differs and not arguments.write)


def rows_of_definitions(folder: Path) -> tuple[list[Row], list[str]]:
    """Return the rows of all definitions, and the rules that no row restates."""
    found: list[Row] = []
    unknown: list[str] = []
    for name, (version, source) in DEFINITIONS.items():
        own, rules = _read(folder / name, version, source)
        found += own
        unknown += rules
    known = {tuple(row.values())[:4] for row in found}
    for name, (version, source) in VARIANTS.items():
        own, rules = _read(folder / name, version, source)
        found += [row for row in own if tuple(row.values())[:4] not in known]
        unknown += [each for each in rules if each not in unknown]
    return found, unknown


def _read(file: Path, version: str, source: str) -> tuple[list[Row], list[str]]:
    spec = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]
    kind = spec["names"]["kind"]
    served = next(each for each in spec["versions"] if each["name"] == version)
    schema = served["schema"]["openAPIV3Schema"]["properties"]["spec"]
    part = Definition(f"kubernetes:{spec['group']}/{version}:{kind}", source)
    found = list(part.rows(schema, "spec"))
    if chart := CHARTS.get(f"{spec['group']}/{version}/{kind}"):
        of_values = ("values", "range", "pattern")
        found += [
            {**row, "type": chart, "property": row["property"].removeprefix("spec.")}
            for row in found
            if row["kind"] in of_values
        ]
    return found, part.unknown


def _type(schema: Mapping[str, Any]) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "any"
    return schema["type"] if schema.get("type") in SCALARS else "any"


def _table(row: Row) -> str:
    return "api_values" if row["kind"] in ("values", "range") else "api_constraints"


def _place(row: Row) -> tuple[str, str]:
    return row["type"], row["property"]


def _csv(columns: tuple[str, ...], rows: list[Row]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    sys.exit(main())
