"""Build a stack: its settings and plan file → the plan on record → cluster, pools, driver →
outputs.
"""

from pathlib import Path

import pulumi

from pulumi_dra import DraPlatform
from pulumi_dra.platform.stack_settings import read_program_settings

settings = read_program_settings(Path(__file__).parent)
platform = DraPlatform("dra", settings.platform)

pulumi.export("clusterName", platform.cluster_name)
pulumi.export("endpoint", platform.endpoint)
pulumi.export("kubeconfig", platform.kubeconfig_json)
pulumi.export("planDigest", platform.plan_digest)
pulumi.export("verdict", platform.verdict)
pulumi.export("poolMaxNodes", platform.pool_max_nodes)
