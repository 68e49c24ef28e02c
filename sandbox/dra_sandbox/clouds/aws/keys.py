"""Check customer-managed keys that encrypt the volumes of nodes.

Auto Scaling starts the nodes of a managed group as its service-linked role, so the key's policy or
a grant must let that role use the key. The role exists after the account's first Auto Scaling
group.

Sources: EC2 Auto Scaling user guide, “Required AWS KMS key policy for use with encrypted volumes”;
terraform-provider-aws issues 39904 (effect) and 28644 (a principal that doesn't exist yet).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Value, Values

NODE_GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"
KEY, KEY_POLICY, GRANT = "aws:kms/key:Key", "aws:kms/keyPolicy:KeyPolicy", "aws:kms/grant:Grant"
SERVICE_ROLE = "aws:iam/serviceLinkedRole:ServiceLinkedRole"
ROLE = "role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
SPOT_ROLE = "role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"
NEEDED = {
    "Encrypt",
    "Decrypt",
    "ReEncryptFrom",
    "ReEncryptTo",
    "GenerateDataKey",
    "GenerateDataKeyWithoutPlaintext",
    "DescribeKey",
    "CreateGrant",
}


def nodes_can_use_their_key(request: CloudRequest) -> str | None:
    """Reject a node group whose nodes would terminate at launch. A group without nodes is
    accepted.
    """
    group = request.inputs or {}
    if not group or not group["scalingConfig"]["desiredSize"]:
        return None
    template = request.cloud.get(TEMPLATE, str((group.get("launchTemplate") or {}).get("id"))) or {}
    for device in template.get("blockDeviceMappings") or []:
        key = (device.get("ebs") or {}).get("kmsKeyId")
        if key and NEEDED.difference(_allowed(request.cloud, key)):
            return (
                "NodeCreationFailure: AsgInstanceLaunchFailures: Could not launch On-Demand "
                "Instances. "
                "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state. "
                f"Launching EC2 instance failed: {key}"
            )
    return None


def principal_exists(request: CloudRequest) -> str | None:
    """Reject a key policy or grant that names the Auto Scaling role before it exists."""
    inputs = request.inputs or {}
    names_role = ROLE in str(inputs.get("policy") or "") or str(
        inputs.get("granteePrincipal") or ""
    ).endswith(ROLE)
    if not names_role or role_exists(request.cloud):
        return None
    if "policy" in inputs:
        return (
            "MalformedPolicyDocumentException: Policy contains a statement with one or more "
            "invalid principals."
        )
    return (
        f"InvalidArnException: the grantee principal does not exist: {inputs['granteePrincipal']}"
    )


def role_exists(cloud: Memory) -> bool:
    """Return True if the account has the service-linked role of Auto Scaling."""
    made = (role.get("awsServiceName") for role in cloud.all(SERVICE_ROLE).values())
    return bool(cloud.all(NODE_GROUP)) or "autoscaling.amazonaws.com" in made


def spot_role_exists(cloud: Memory) -> bool:
    """Return True if the account has the service-linked role of Spot. Auto Scaling creates it with
    its first Spot machines.
    """
    made = (role.get("awsServiceName") for role in cloud.all(SERVICE_ROLE).values())
    groups = cloud.all(NODE_GROUP).values()
    return (
        any(group.get("capacityType") == "SPOT" for group in groups) or "spot.amazonaws.com" in made
    )


def _allowed(cloud: Memory, key: str) -> Iterator[str]:
    """Yield the operations that the Auto Scaling role is allowed to perform with a key (its ARN or
    ID).
    """
    identifier = key.rpartition("/")[2]
    for grant in cloud.all(GRANT).values():
        if _is(grant["keyId"], identifier) and grant["granteePrincipal"].endswith(ROLE):
            yield from grant["operations"]
    documents = [
        policy["policy"]
        for policy in cloud.all(KEY_POLICY).values()
        if _is(policy["keyId"], identifier)
    ]
    documents += [(cloud.get(KEY, identifier) or {}).get("policy") or "{}"]
    for document in documents:
        for statement in _listed(json.loads(document).get("Statement")):
            yield from _of_statement(statement)


def _of_statement(statement: Values) -> Iterator[str]:
    principal = statement.get("Principal")
    named = _listed(principal.get("AWS") if isinstance(principal, dict) else principal)
    if statement.get("Effect") != "Allow" or not any(str(each).endswith(ROLE) for each in named):
        return
    patterns = [str(action).removeprefix("kms:") for action in _listed(statement.get("Action"))]
    yield from (each for each in NEEDED if any(fnmatchcase(each, pattern) for pattern in patterns))


def _is(named: str, identifier: str) -> bool:
    return named.rpartition("/")[2] == identifier


def _listed(value: Value) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
