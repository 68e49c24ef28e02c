"""Admission webhooks that prevent the DRA driver's pods from starting while the webhooks aren't
reachable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import Properties, has_unknown
from dra_policies.view.stack_view import DeclaredResource, InstalledDriver, StackView

_WEBHOOKS: Final = (":MutatingWebhookConfiguration", ":ValidatingWebhookConfiguration")
_NAMESPACE_LABEL: Final = "kubernetes.io/metadata.name"


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers if view.complete else ():
        for each in view.objects:
            if driver.namespace and each.type.endswith(_WEBHOOKS):
                yield from _webhooks(each, driver, driver.namespace)


def _webhooks(
    configuration: DeclaredResource, driver: InstalledDriver, namespace: str
) -> Iterator[Finding]:
    """Yield pod webhooks that fail closed, and that don't exclude the driver."""
    for webhook in configuration.props.items("webhooks") or ():
        if has_unknown(webhook.values):
            continue
        resources = {
            name for rule in webhook.items("rules") or () for name in rule.texts("resources") or ()
        }
        is_for_pods = bool(resources & {"pods", "*", "*/*", "daemonsets"})
        is_closed = webhook.text("failurePolicy", "Fail") == "Fail"
        if is_for_pods and is_closed and _selects(webhook, namespace):
            yield Finding(
                message=f'webhook "{webhook.text("name")}" of '
                f'{configuration.type.rpartition(":")[2]} "{configuration.name}" '
                f'must approve pods in namespace "{namespace}", so if the webhook '
                "isn't reachable, "
                f"{driver.title} can't start pods on new nodes",
                fix=f'exclude namespace "{namespace}" in the webhook\'s namespaceSelector, or set '
                "failurePolicy to Ignore",
                urn=configuration.urn,
            )


def _selects(webhook: Properties, namespace: str) -> bool:
    """Return False if a selector might exclude the driver's pods."""
    if webhook.at("objectSelector"):
        return False
    selector = webhook.below("namespaceSelector")
    labels = selector.mapping("matchLabels")
    if labels:
        return labels == {_NAMESPACE_LABEL: namespace}
    for term in selector.items("matchExpressions") or ():
        values = term.texts("values") or ()
        if term.text("key") != _NAMESPACE_LABEL:
            return False
        if (term.text("operator") == "In") != (namespace in values):
            return False
    return True


RULE = Rule(
    id="webhook-holds-up-driver",
    description="The DRA driver's pods depend on an admission webhook that fails closed.",
    why="If the webhook isn't reachable, the driver doesn't start on new nodes. The webhook's "
    "own pods might need one of these nodes.",
    fix="Exclude the driver's namespace, or configure the webhook to fail open.",
    level="advisory",
    url="https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/",
    needs="stack",
    check=check,
)
