"""The driver's webhook without a source for its certificate."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or any(
        "cert-manager" in (each.props.text("chart") or each.name) for each in view.objects
    ):
        return
    for driver in view.drivers:
        values = driver.values
        if values is None or values.flag("webhook.enabled", False) is not True:
            continue
        if values.has("webhook.tls.secret.name") is False and values.text(
            "webhook.tls.mode", "cert-manager"
        ) == ("cert-manager"):
            yield Finding(
                message=f"{driver.title} enables the webhook, whose certificate comes from "
                "cert-manager, but no release of this stack installs cert-manager",
                fix="install cert-manager before it, or set webhook.tls.mode: secret with "
                "your own secret",
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-webhook-without-certificate",
    says="The driver's webhook has no source for its certificate.",
    why="Without cert-manager, the cluster doesn't serve the chart's Certificate kind, so the "
    "release fails.",
    fix="Install cert-manager before the driver, or set a Secret for the webhook.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
