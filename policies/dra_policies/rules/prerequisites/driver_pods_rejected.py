"""A DRA driver in a namespace whose Pod Security level, quotas, or policies reject its pods."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from dra_planner.clouds import cloud, names
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.wording import listed
from dra_policies.rules.prerequisites.rejecting_policies import rejecting_policies
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import UNKNOWN, as_mapping
from dra_policies.view.stack_view import InstalledDriver, StackView

LABEL: Final = "pod-security.kubernetes.io/enforce"
REJECTING: Final = ("baseline", "restricted")
URL: Final = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"
_NAMESPACE: Final = "kubernetes:core/v1:Namespace"
_QUOTA: Final = "kubernetes:core/v1:ResourceQuota"
_LIMITS: Final = "kubernetes:core/v1:LimitRange"
_COUNTED: Final = ("cpu", "memory")
_SERVERLESS: Final = frozenset(
    cloud(name).serverless_token for name in names() if cloud(name).serverless_token
)


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers if view.complete else ():
        for each in view.objects:
            is_its_own = driver.namespace in (
                each.props.text("metadata.name") or each.urn,
                each.urn,
            )
            if each.type != _NAMESPACE or not is_its_own:
                continue
            level = (each.props.mapping("metadata.labels") or {}).get(LABEL)
            if level in REJECTING:
                yield Finding(
                    message=f'Namespace "{each.name}" enforces the Pod Security level `{level}`, which '
                    f"rejects the privileged pods of {driver.title}, so nodes don't publish "
                    "devices",
                    fix=f"set the namespace's {LABEL} label to privileged",
                    urn=each.urn,
                )
        yield from _priority_class(view, driver)
        yield from _quotas(view, driver)
        yield from _serverless(view, driver)
        yield from rejecting_policies(view, driver)


def _priority_class(view: StackView, driver: InstalledDriver) -> Iterator[Finding]:
    """Yield a PriorityClass that the stack doesn't declare although it creates the cluster, and
    that isn't built into Kubernetes.
    """
    name = driver.priority_class
    declared = {
        each.props.text("metadata.name") or each.name
        for each in view.objects
        if each.type.endswith(":PriorityClass")
    }
    if name and name not in {*SYSTEM_PRIORITIES, *declared}:
        yield Finding(
            message=f'the kubelet plugin of {driver.title} uses PriorityClass "{name}", which '
            "this stack doesn't declare, so the API server rejects the plugin's pods",
            fix=f'declare PriorityClass "{name}", or remove kubeletPlugin.priorityClassName',
            urn=driver.urn,
            certain=any(each.is_cluster for each in view.versions),
        )


def _serverless(view: StackView, driver: InstalledDriver) -> Iterator[Finding]:
    """Yield profiles that keep the driver's pods off the pool's nodes."""
    for each in view.declared:
        if each.type not in _SERVERLESS:
            continue
        for selector in each.props.items("selectors") or ():
            namespace = selector.text("namespace")
            if (
                namespace
                and driver.namespace
                and fnmatchcase(driver.namespace, namespace)
                and selector.mapping("labels") == {}
            ):
                yield Finding(
                    message=f'Fargate profile "{each.name}" selects the namespace '
                    f"\"{driver.namespace}\" of {driver.title}, so the driver's pods don't run on "
                    "GPU nodes",
                    fix=f'remove the selector for namespace "{namespace}", or install the driver '
                    "in another namespace",
                    urn=each.urn,
                )


def _quotas(view: StackView, driver: InstalledDriver) -> Iterator[Finding]:
    """Yield quotas of CPU or memory, with which the API server rejects pods without such requests.
    By default, the driver's containers don't set requests (kubernetes-sigs/dra-driver-nvidia-gpu:
    deployments/helm/nvidia-dra-driver-gpu/values.yaml, resources: {}).
    """
    own = [
        each
        for each in view.objects
        if each.props.text("metadata.namespace") in (driver.namespace, None)
    ]
    if any(each.type == _LIMITS for each in own) or _sets_resources(driver):
        return
    for each in own:
        hard = each.props.mapping("spec.hard") if each.type == _QUOTA else None
        counted = [
            key
            for key in sorted(hard or {})
            if key.removeprefix("requests.").removeprefix("limits.") in _COUNTED
        ]
        is_scoped = each.props.has("spec.scopes") or each.props.has("spec.scopeSelector")
        if counted and is_scoped is False:
            yield Finding(
                message=f'ResourceQuota "{each.name}" sets {listed(counted)}, which '
                f"the pods of {driver.title} don't specify, so the API server rejects the pods",
                fix="add a LimitRange with default values to the namespace, or remove "
                f"{listed(counted)} from the quota",
                urn=each.urn,
            )


def _sets_resources(driver: InstalledDriver) -> bool:
    """Return True if the release's values might set requests for the driver's containers."""
    plugin = driver.values.at("kubeletPlugin") if driver.values is not None else UNKNOWN
    containers = plugin if plugin is UNKNOWN else (as_mapping(plugin) or {}).get("containers")
    return containers is not None


RULE = Rule(
    id="driver-pods-rejected",
    description="The DRA driver's namespace rejects the driver's pods.",
    why="The kubelet plugin needs a privileged container and host paths. If the API server "
    "rejects its pods, nodes don't publish devices.",
    fix="Enforce the `privileged` Pod Security level in the driver's namespace, and keep "
    "workloads out of it.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
