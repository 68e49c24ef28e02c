"""Roles, policies, and keys."""

from __future__ import annotations

from collections.abc import Mapping

from dra_sandbox.clouds.aws import keys, principals
from dra_sandbox.clouds.type_rows import TypeRow

ROWS: Mapping[str, TypeRow] = {
    "aws:iam/role:Role": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:iam::{account}:role/{name}",
            "uniqueId": "AROA{HEX32}",
            "createDate": "2026-01-01T00:00:00Z",
            "managedPolicyArns": [],
            "inlinePolicies": [],
        },
        defaults={"forceDetachPolicies": False, "maxSessionDuration": 3600, "path": "/"},
        replace=("path", "namePrefix"),
        name_limit=64,
        checks=(principals.tags_are_of_iam,),
    ),
    "aws:iam/policy:Policy": TypeRow(
        id="arn:{partition}:iam::{account}:policy/{name}",
        outputs={
            "arn": "arn:{partition}:iam::{account}:policy/{name}",
            "policyId": "ANPA{HEX32}",
            "attachmentCount": 0,
        },
        defaults={"path": "/"},
        replace=("description", "path", "namePrefix"),
        name_limit=128,
    ),
    "aws:iam/rolePolicy:RolePolicy": TypeRow(id="{role}:{name}", replace=("role", "namePrefix")),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": TypeRow(
        id="{role}-{hex17}", replace=("role", "policyArn")
    ),
    "aws:iam/instanceProfile:InstanceProfile": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:iam::{account}:instance-profile/{name}",
            "uniqueId": "AIPA{HEX32}",
            "createDate": "2026-01-01T00:00:00Z",
        },
        defaults={"path": "/"},
        replace=("path", "namePrefix"),
        name_limit=128,
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": TypeRow(
        id="arn:{partition}:iam::{account}:oidc-provider/{hex32}",
        outputs={
            "arn": lambda facts: facts.text(
                "arn:{partition}:iam::{account}:oidc-provider/"
                + str(facts.inputs.get("url", "")).removeprefix("https://")
            ),
            "thumbprintLists": ["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"],
        },
        replace=("url",),
        sets=("clientIdLists",),
    ),
    "aws:kms/key:Key": TypeRow(
        id="{uuid}",
        outputs={
            "arn": "arn:{partition}:kms:{region}:{account}:key/{uuid}",
            "keyId": "{uuid}",
            "policy": "{{}}",
            "multiRegion": False,
            "rotationPeriodInDays": 365,
        },
        defaults={
            "isEnabled": True,
            "keyUsage": "ENCRYPT_DECRYPT",
            "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
        },
        replace=(
            "customerMasterKeySpec",
            "keyUsage",
            "multiRegion",
            "customKeyStoreId",
            "xksKeyId",
        ),
        refusals=(keys.principal_exists,),
        remembered=True,
    ),
    "aws:kms/keyPolicy:KeyPolicy": TypeRow(
        id="{keyId}", replace=("keyId",), refusals=(keys.principal_exists,), remembered=True
    ),
    "aws:kms/grant:Grant": TypeRow(
        id="{keyId}:{hex32}",
        outputs={"grantId": "{hex32}", "grantToken": "{hex32}"},
        replace=(
            "constraints",
            "grantCreationTokens",
            "granteePrincipal",
            "keyId",
            "name",
            "operations",
        ),
        sets=("operations",),
        checks=(principals.key_is_no_alias,),
        refusals=(keys.principal_exists,),
        remembered=True,
    ),
    "aws:iam/serviceLinkedRole:ServiceLinkedRole": TypeRow(
        id="arn:{partition}:iam::{account}:role/aws-service-role/{awsServiceName}/{hex8}",
        replace=("awsServiceName", "customSuffix"),
        remembered=True,
    ),
    "aws:kms/alias:Alias": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:kms:{region}:{account}:{name}",
            "targetKeyArn": "arn:{partition}:kms:{region}:{account}:key/{targetKeyId}",
        },
        replace=("namePrefix",),
    ),
}
