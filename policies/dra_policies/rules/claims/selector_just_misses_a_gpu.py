"""A memory limit that a GPU misses by the difference between its nominal memory and its published
memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.cel import Dialect, Selector, compile
from dra_planner.cel.explanation import NEAR_PERCENT
from dra_planner.manifests import selectors_of
from dra_planner.quantity import Quantity
from dra_planner.releases import Features
from dra_planner.wording import listed
from dra_policies.rules.rule import Finding, Rule, Threshold
from dra_policies.view.known_devices import KnownDevice, known_devices
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None or view.features is None or view.is_early:
        return
    offered, near = _products(view), view.thresholds.get(RULE.id, NEAR_PERCENT)
    for selector in selectors_of(view.manifests):
        missed = [
            device
            for device in just_missed(selector.expression, view.features, near)
            if device.product in offered or not offered
        ]
        if missed:
            lowest = min(device.memory for device in missed if device.memory is not None)
            shown = listed(f"{device.product} ({device.memory})" for device in missed)
            yield Finding(
                message=f"the selector `{' '.join(selector.expression.split())}` excludes {shown}, whose "
                f"memory falls short of the required memory by less than {near}%",
                fix=f"lower the required memory to {lowest} or less, because drivers publish less "
                "than a GPU's nominal memory",
                place=selector.place,
            )


def _products(view: StackView) -> set[str]:
    """Return the GPUs in the view's pools. Empty if there are no pools; then all known GPUs are
    checked.
    """
    offers = view.judgement.offers if view.judgement else ()
    devices = (device for offer in offers for part in offer.slices for device in part.devices)
    return {str(device.attributes.get("productName", "")) for device in devices}


def just_missed(
    expression: str, features: Features, near: float = NEAR_PERCENT
) -> tuple[KnownDevice, ...]:
    """Return the GPUs that would match with `near` percent more memory. Empty for a selector that
    doesn't compile.
    """
    selector = compile(expression, Dialect.of(features, "stored"))
    if not isinstance(selector, Selector) or not any(
        path[:1] in ((), ("capacity",)) for path in selector.reads
    ):
        return ()
    missed: list[KnownDevice] = []
    for device in known_devices(features):
        if device.memory is not None and selector.matches(device).verdict == "no-match":
            more = Quantity.from_int(int(device.memory.value * (100 + near) // 100))
            if selector.matches(device.with_memory(more)).verdict == "match":
                missed.append(device)
    return tuple(missed)


RULE = Rule(
    id="selector-just-misses-a-gpu",
    description="A selector requires a few percent more memory than a GPU publishes.",
    why="The driver publishes less than the nominal size: 81559Mi for an H100 with “80 GB”, and "
    "23034Mi for an L4 "
    "with “24 GB”.",
    fix='Compare with slightly less than the nominal size, for example quantity("79Gi").',
    level="advisory",
    check=check,
    threshold=Threshold(
        description="Maximum difference, in percent, between the memory that a selector requires and "
        "the memory that a GPU publishes.",
        default=NEAR_PERCENT,
        least=0,
        most=50,
    ),
)
