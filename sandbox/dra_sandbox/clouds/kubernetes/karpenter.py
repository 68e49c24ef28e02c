"""Check Karpenter's objects as the API server does, with the messages of their
CustomResourceDefinitions. Sources:
aws/karpenter-provider-aws:pkg/apis/crds/karpenter.sh_nodepools.yaml and
karpenter.k8s.aws_ec2nodeclasses.yaml, 1.14.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from dra_sandbox.clouds.property_checks import PropertyFailure
from dra_sandbox.clouds.wire_values import Value, Values, holds_unknown, is_unknown

_RESTRICTED: Final = ("karpenter.sh", "karpenter.k8s.aws")
_IN_REQUIREMENTS: Final = re.compile(
    r"karpenter\.sh/capacity-type|karpenter\.k8s\.aws/(instance|capacity-reservation)-.+"
)
_NOT_IN_TAGS: Final = (
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
)
_BUDGET: Final = re.compile(r"((100|[0-9]{1,2})%|[0-9]+)")


def check_karpenter(token: str, manifest: Values, old: Values) -> Iterator[PropertyFailure]:
    """Yield the problems of a Karpenter object, and nothing for other kinds. `old` is the previous
    object.
    """
    if check := _CHECKS.get(token):
        yield from check(manifest, old)


def _check_pool(manifest: Values, old: Values) -> Iterator[PropertyFailure]:
    spec, before = _mapping(manifest.get("spec")), _mapping(old.get("spec"))
    template = _mapping(spec.get("template"))
    inner = _mapping(template.get("spec"))
    reference = _mapping(inner.get("nodeClassRef"))
    for key in ("group", "kind", "name"):
        if not reference.get(key):
            yield PropertyFailure(
                f"spec.template.spec.nodeClassRef.{key}", f"{key} may not be empty"
            )
    if "requirements" not in inner:
        yield PropertyFailure("spec.template.spec.requirements", "Required value")
    for index, item in enumerate(_list(inner.get("requirements"))):
        yield from _check_requirement(_mapping(item), f"spec.template.spec.requirements[{index}]")
    for key in _mapping(_mapping(template.get("metadata")).get("labels")):
        if key.partition("/")[0].endswith(_RESTRICTED):
            yield PropertyFailure(
                "spec.template.metadata.labels",
                f'label domain "{key.partition("/")[0]}" is restricted',
            )
    yield from _check_static(spec, before)
    for index, budget in enumerate(_list(_mapping(spec.get("disruption")).get("budgets"))):
        nodes = _mapping(budget).get("nodes")
        if not is_unknown(nodes) and not _BUDGET.fullmatch(str(nodes)):
            yield PropertyFailure(
                f"spec.disruption.budgets[{index}].nodes",
                "should match '^((100|[0-9]{1,2})%|[0-9]+)$'",
            )
    if "disruption" in spec and "consolidateAfter" not in _mapping(spec["disruption"]):
        yield PropertyFailure("spec.disruption.consolidateAfter", "Required value")


def _check_static(spec: Values, before: Values) -> Iterator[PropertyFailure]:
    is_static = spec.get("replicas") is not None
    # This rule of the definition compares the object with the previous one, so a creation can't
    # violate it.
    if before and is_static != (before.get("replicas") is not None):
        yield PropertyFailure(
            "spec",
            "Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) "
            "provisioning modes",
        )
    if is_static and set(_mapping(spec.get("limits"))) - {"nodes"}:
        yield PropertyFailure("spec", "only 'limits.nodes' is supported on static NodePools")
    if is_static and spec.get("weight") is not None:
        yield PropertyFailure("spec", "'weight' is not supported on static NodePools")
    replicas = spec.get("replicas")
    if isinstance(replicas, (int, float)) and replicas < 0:
        yield PropertyFailure("spec.replicas", "should be greater than or equal to 0")


def _check_requirement(requirement: Values, path: str) -> Iterator[PropertyFailure]:
    key, operator = str(requirement.get("key", "")), requirement.get("operator")
    domain = key.partition("/")[0]
    if domain.endswith(_RESTRICTED) and not _IN_REQUIREMENTS.fullmatch(key):
        yield PropertyFailure(f"{path}.key", f'label domain "{domain}" is restricted')
    if operator not in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"):
        yield PropertyFailure(f"{path}.operator", f'Unsupported value: "{operator}"')
    if operator == "In" and not requirement.get("values"):
        yield PropertyFailure(path, "requirements with operator 'In' must have a value defined")


def _check_class(manifest: Values, old: Values) -> Iterator[PropertyFailure]:
    spec = _mapping(manifest.get("spec"))
    if holds_unknown(spec.get("amiSelectorTerms")):
        return  # most checks below depend on whether a term has an alias
    images = [_mapping(each) for each in _list(spec.get("amiSelectorTerms"))]
    if not images:
        yield PropertyFailure("spec.amiSelectorTerms", "should have at least 1 items")
    if any("alias" in each for each in images) and len(images) != 1:
        reason = (
            "'alias' is mutually exclusive, cannot be set with a combination of other "
            "amiSelectorTerms"
        )
        yield PropertyFailure("spec.amiSelectorTerms", reason)
    if not any("alias" in each for each in images) and not spec.get("amiFamily"):
        yield PropertyFailure(
            "spec", "must specify amiFamily if amiSelectorTerms does not contain an alias"
        )
    if (spec.get("role") is None) == (spec.get("instanceProfile") is None):
        yield PropertyFailure("spec", "must specify exactly one of ['role', 'instanceProfile']")
    for terms in ("subnetSelectorTerms", "securityGroupSelectorTerms"):
        if not is_unknown(spec.get(terms)) and not spec.get(terms):
            yield PropertyFailure(f"spec.{terms}", f"{terms} cannot be empty")
    for tag in _mapping(spec.get("tags")):
        if tag in _NOT_IN_TAGS or tag.startswith("kubernetes.io/cluster"):
            yield PropertyFailure("spec.tags", f"tag contains a restricted tag matching {tag}")
    yield from _check_interfaces([_mapping(each) for each in _list(spec.get("networkInterfaces"))])


def _check_interfaces(interfaces: list[Values]) -> Iterator[PropertyFailure]:
    places = [(each.get("networkCardIndex"), each.get("deviceIndex")) for each in interfaces]
    first = [each for each, place in zip(interfaces, places, strict=True) if place == (0, 0)]
    if interfaces and not any(each.get("interfaceType") == "interface" for each in first):
        reason = "networkInterfaces must include a primary interface with interfaceType='interface'"
        yield PropertyFailure("spec.networkInterfaces", reason)
    efa = [
        each.get("networkCardIndex")
        for each in interfaces
        if each.get("interfaceType") == "efa-only"
    ]
    if len(set(places)) != len(places) or len(set(efa)) != len(efa):
        yield PropertyFailure(
            "spec.networkInterfaces",
            "networkInterfaces must not have duplicate networkCardIndex and deviceIndex pairs, and "
            "can have at most "
            "one efa device per network card",
        )


def _mapping(value: Value) -> Values:
    return value if isinstance(value, dict) else {}


def _list(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []


_CHECKS: Final[Mapping[str, Callable[[Values, Values], Iterator[PropertyFailure]]]] = {
    "kubernetes:karpenter.sh/v1:NodePool": _check_pool,
    "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass": _check_class,
}
