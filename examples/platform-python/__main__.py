"""A platform with a cluster, GPU pools, a namespace for a team, and a device quota for this
namespace.
"""

from pathlib import Path

import pulumi

from pulumi_dra import DraPlatform
from pulumi_dra.platform.stack_settings import read_program_settings

settings = read_program_settings(Path(__file__).parent)
platform = DraPlatform(
    "gpus",
    {
        "plan": settings.document,
        "pools": [{"name": "l4", "labels": {"team": "vision"}}],
        "tenants": [
            {
                "namespace": "vision",
                "groups": ["vision-engineers"],
                "device_quota": {"gpu.nvidia.com": 4},
            },
        ],
        "admin_access_namespaces": [],
        "tags": {"owner": "platform"},
    },
)

pulumi.export("kubeconfig", platform.kubeconfig_json)
pulumi.export("poolMaxNodes", platform.pool_max_nodes)
