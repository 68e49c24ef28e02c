"""A DeviceClass that differs from the one in the plan."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    for name, declared in sorted(view.manifests.classes.items()):
        planned = view.planned_classes.get(name)
        if planned is None:
            continue
        ours = ["".join(each.expression.split()) for each in declared.selectors]
        theirs = ["".join(each.expression.split()) for each in planned.selectors]
        named = declared.extended_resource_name, planned.extended_resource_name
        if ours != theirs or named[0] != named[1]:
            if ours != theirs:
                what, differ = "selectors", "differ"
                shown = [each.expression for each in planned.selectors]
            else:
                what, differ = "extendedResourceName", "differs"
                shown = [each for each in named[1:] if each]
            planned_values = " and ".join(f"`{each}`" for each in shown) or "none"
            yield Finding(
                message=f'the {what} of DeviceClass "{name}" {differ} from the plan (planned: {planned_values})',
                fix=f"set the {what} to {planned_values}, or run `pulumi-dra plan --stack STACK --write` to plan "
                "with the current DeviceClass"
                if shown
                else f"remove the {what}, or run `pulumi-dra plan --stack STACK --write` to plan with the "
                "current DeviceClass",
                place=declared.meta.place,
            )


RULE = Rule(
    id="class-differs-from-plan",
    description="A DeviceClass differs from the plan.",
    why="The plan checked the claims with its own DeviceClasses. With other classes, pods might "
    "get different devices or none.",
    fix="Define the plan's DeviceClasses, or plan again.",
    level="advisory",
    needs="stack",
    check=check,
)
