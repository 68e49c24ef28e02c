"""Webhooks on ports that the control plane of a private cluster can't reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import WebhookPorts, cloud, names
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import DeclaredResource, StackView

_WEBHOOKS: Final = (":ValidatingWebhookConfiguration", ":MutatingWebhookConfiguration")
_SERVICE: Final = ":Service"
_DEFAULT_PORT: Final = 443


def check(view: StackView) -> Iterator[Finding]:
    for name in names() if view.complete else ():
        of_cloud = cloud(name)
        ports = of_cloud.node_network.webhook_ports
        cluster = view.only_cluster(of_cloud)
        if ports is None or cluster is None or not cluster.props.flag(ports.private, False):
            continue
        for each in view.objects:
            if each.type.endswith(_WEBHOOKS):
                yield from _of_configuration(view, ports, cluster, each)


def _of_configuration(
    view: StackView, ports: WebhookPorts, cluster: DeclaredResource, hooks: DeclaredResource
) -> Iterator[Finding]:
    for hook in hooks.props.items("webhooks") or ():
        port = _port_of(view, hook)
        closed = port is not None and port not in ports.open and not _is_opened(view, ports, port)
        if closed and hook.text("failurePolicy", "Fail") == "Fail":
            yield Finding(
                message=f'webhook "{hook.text("name")}" listens on port {port}, but the control '
                f'plane of private cluster "{cluster.name}" can reach only ports '
                f"{' and '.join(map(str, ports.open))} on the nodes, so the API server rejects "
                "the objects that the webhook checks",
                fix=f"add a firewall rule that allows TCP port {port} from the control plane's "
                f"IP range to the nodes, or configure the webhook to listen on port {ports.open[-1]}",
                urn=hooks.urn,
            )
            return


def _port_of(view: StackView, hook: Properties) -> int | None:
    """Return the port of the pods behind a webhook, or None if it isn't known."""
    service = hook.below("clientConfig.service")
    name, namespace = service.text("name"), service.text("namespace")
    number = service.count("port", _DEFAULT_PORT)
    for each in view.objects:
        here = (each.props.text("metadata.name"), each.props.text("metadata.namespace", "default"))
        if each.type.endswith(_SERVICE) and name and here == (name, namespace):
            for port in each.props.items("spec.ports") or ():
                if port.count("port", 0) == number:
                    return port.count("targetPort", number or _DEFAULT_PORT)
    return None


def _is_opened(view: StackView, ports: WebhookPorts, port: int) -> bool:
    """Return whether a firewall rule of the stack may allow a port."""
    for rule in view.declared:
        if rule.type != ports.firewall:
            continue
        allowed = rule.props.items(ports.allowed)
        if allowed is None:
            return True
        for each in allowed:
            listed = each.texts("ports")
            if not listed or any(text is None or _contains(text, port) for text in listed):
                return True
    return False


def _contains(text: str, port: int) -> bool:
    first, _, last = text.partition("-")
    return first.isdecimal() and int(first) <= port <= int(last or first)


RULE = Rule(
    id="webhook-not-reachable",
    description="The control plane can't reach a webhook that fails closed.",
    why="The API server rejects every object that it can't send to the webhook, which often means "
    "every pod.",
    fix="Open the webhook's port for the control plane.",
    level="mandatory",
    is_outage=True,
    url="https://cloud.google.com/kubernetes-engine/docs/how-to/private-clusters#add_firewall_rules",
    needs="stack",
    check=check,
)
