"""What a saved plan says, built whole; or the plan alone, with parts of one's own that wait for
it.
"""

from pathlib import Path

import pulumi

from pulumi_dra import CapacityPlan, DraPlatform
from pulumi_dra.eks import EksCluster

plan = Path("stacks/eks-dev.plan.json").read_text()

DraPlatform("gpu", {"plan": plan, "tags": {"owner": "platform"}})

record = CapacityPlan("plan", {"document": plan})
EksCluster(
    "own", {"kubernetes_version": "1.35"}, pulumi.ResourceOptions(depends_on=[record.recorded])
)
