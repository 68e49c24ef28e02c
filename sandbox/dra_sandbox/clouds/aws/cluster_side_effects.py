"""Resources that EKS creates together with a cluster: the access entry of its creator, and its log
group.
"""

from __future__ import annotations

from dra_sandbox.clouds.aws.clusters import ENTRY, MODES, authentication_mode
from dra_sandbox.clouds.aws.functions import ACCOUNT, CALLER
from dra_sandbox.clouds.type_rows import CloudRequest

LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"


def come_and_go(request: CloudRequest) -> None:
    """Create and delete access entries with the cluster, if its mode supports them. The log group
    stays.

    Sources: eksworkshop.com/docs/security/cluster-access-management/managing (entries),
    terraform-aws-eks issues 920 and 2486 (logs).
    """
    name, cloud, inputs = request.identifier, request.cloud, request.inputs
    if inputs is None:
        for identifier, entry in cloud.all(ENTRY).items():
            if entry["clusterName"] == name:
                cloud.drop(ENTRY, identifier)
        return
    logs = f"/aws/eks/{name}/cluster"
    if inputs.get("enabledClusterLogTypes") and cloud.get(LOG_GROUP, logs) is None:
        cloud.put(
            LOG_GROUP,
            logs,
            {"name": logs, "retentionInDays": 0, "skipDestroy": False, "arn": f"arn:{logs}"},
        )
    had_entries = request.before is not None and authentication_mode(request.before) != MODES[0]
    access = (request.before or inputs).get("accessConfig") or {}
    if had_entries or authentication_mode(inputs) == MODES[0]:
        return
    if access.get("bootstrapClusterCreatorAdminPermissions", True) is False:
        return
    partition = [*str(inputs.get("roleArn")).split(":"), "aws"][1]
    principal = f"arn:{partition}:iam::{ACCOUNT}:{CALLER}"
    own = {"type": "STANDARD", "kubernetesGroups": [], "userName": principal}
    cloud.put(ENTRY, f"{name}:{principal}", {"clusterName": name, "principalArn": principal, **own})


def group_is_new(request: CloudRequest) -> str | None:
    """Reject a log group that EKS has already created or re-created. Sources: terraform-aws-eks
    issues 920, 2486 and 2763.
    """
    if request.inputs is None or request.before is not None:
        return None
    if request.cloud.get(LOG_GROUP, request.identifier) is None:
        return None
    return "ResourceAlreadyExistsException: The specified log group already exists"
