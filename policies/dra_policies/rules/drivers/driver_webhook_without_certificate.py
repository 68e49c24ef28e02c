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
                message=f"{driver.title} enables its webhook, which needs a certificate from "
                "cert-manager, but this stack doesn't install cert-manager",
                fix="install cert-manager first, or set webhook.tls.mode to secret and provide "
                "your own Secret",
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-webhook-without-certificate",
    description="The driver's webhook can't get a certificate.",
    why="Without cert-manager, the API server rejects the chart's Certificate, so the release "
    "fails.",
    fix="Install cert-manager before the driver, or provide a Secret with the webhook's "
    "certificate.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
