"""Two rules: a resource rule against groups with more than two nodes, and a stack rule that reports
the region and the number of resource types.
"""

import pulumi
from pulumi_policy import (
    EnforcementLevel,
    PolicyPack,
    ResourceValidationPolicy,
    StackValidationPolicy,
)


def small_groups(args, report):
    if args.resource_type == "aws:eks/nodeGroup:NodeGroup":
        size = args.props["scalingConfig"]["maxSize"]
        if size > 2:
            report(f"{args.name}: {size:g} nodes are more than 2 in stack {pulumi.get_stack()}")


def configured_region(args, report):
    types = sorted({resource.resource_type for resource in args.resources})
    report(f"region {pulumi.Config('aws').get('region')}, {len(types)} types")


PolicyPack(
    "sandbox-test",
    policies=[
        ResourceValidationPolicy(
            "small-groups", "Groups stay small", small_groups, EnforcementLevel.MANDATORY
        ),
        StackValidationPolicy(
            "region", "Says the region", configured_region, EnforcementLevel.ADVISORY
        ),
    ],
)
