"""AWS SDK functions that work without an account."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from dra_planner.releases import RELEASES
from dra_sandbox.clouds.type_rows import words_for
from dra_sandbox.clouds.wire_values import Values

Place = Mapping[str, str]

ACCOUNT, CALLER = "123456789012", "user/sandbox"
"""The account of the AWS documentation, and the simulated caller in it."""

# Zones in use per region
# (https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html); a
# region without an entry has the zones a, b, and c.
_ZONES = {
    "us-east-1": "abcdef",
    "us-west-1": "ab",
    "us-west-2": "abcd",
    "ap-northeast-1": "acd",
    "ap-northeast-2": "abcd",
    "ca-central-1": "abd",
}


def availability_zones(arguments: Values, place: Place) -> Values:
    region = place["region"]
    excluded = set(arguments.get("excludeNames") or [])
    letters = _ZONES.get(region, "abc")
    named = [
        (f"{region}{letter}", _zone_id(region, index))
        for index, letter in enumerate(letters, start=1)
    ]
    kept = [pair for pair in named if pair[0] not in excluded]
    return {
        "id": region,
        "names": [name for name, _ in kept],
        "zoneIds": [zone for _, zone in kept],
        "groupNames": [region],
        "region": region,
    }


def _zone_id(region: str, index: int) -> str:
    """Return the zone identifier, which abbreviates the region: us-east-1 is use1."""
    direction = {"north": "n", "south": "s", "east": "e", "west": "w", "central": "c"}
    area, *words, number = region.split("-")
    short = "".join(letter for word in words for full, letter in direction.items() if full in word)
    return f"{area}{short}{number}-az{index}"


def caller_identity(arguments: Values, place: Place) -> Values:
    account = place["account"]
    return {
        "id": account,
        "accountId": account,
        "arn": f"arn:{place['partition']}:iam::{account}:{CALLER}",
        "userId": "AIDASANDBOX",
    }


def session_context(arguments: Values, place: Place) -> Values:
    """Return the identity behind a session: the assumed role, or the caller itself."""
    arn = str(arguments["arn"])
    *_, service, _, account, resource = arn.split(":", 5)
    kind, _, rest = resource.partition("/")
    if service != "sts" or kind != "assumed-role":
        return {
            "id": arn,
            "arn": arn,
            "issuerArn": arn,
            "issuerId": "",
            "issuerName": "",
            "sessionName": "",
        }
    role, _, session = rest.partition("/")
    issuer = f"arn:{place['partition']}:iam::{account}:role/{role}"
    issuer_id = f"AROA{words_for(issuer)['HEX32'][:17]}"
    return {
        "id": arn,
        "arn": arn,
        "issuerArn": issuer,
        "issuerId": issuer_id,
        "issuerName": role,
        "sessionName": session,
    }


def region(arguments: Values, place: Place) -> Values:
    name = arguments.get("region") or arguments.get("name") or place["region"]
    return {
        "id": name,
        "name": name,
        "region": name,
        "description": name,
        "endpoint": f"ec2.{name}.amazonaws.com",
    }


def partition(arguments: Values, place: Place) -> Values:
    name = place["partition"]
    suffix = "amazonaws.com.cn" if name == "aws-cn" else "amazonaws.com"
    reverse = ".".join(reversed(suffix.split(".")))
    return {"id": name, "partition": name, "dnsSuffix": suffix, "reverseDnsPrefix": reverse}


def policy_document(arguments: Values, place: Place) -> Values:
    """Return the document as the real provider writes it: single values as strings, multiple values
    as sorted lists.
    """
    document: dict[str, Any] = {"Version": arguments.get("version") or "2012-10-17"}
    if arguments.get("policyId"):
        document["Id"] = arguments["policyId"]
    merged: list[dict[str, Any]] = []
    for source in [arguments.get("sourceJson"), *(arguments.get("sourcePolicyDocuments") or [])]:
        merged += _statements_of(source)
    merged += [_statement(given) for given in arguments.get("statements") or []]
    for override in [
        arguments.get("overrideJson"),
        *(arguments.get("overridePolicyDocuments") or []),
    ]:
        for statement in _statements_of(override):
            same = [
                old for old in merged if statement.get("Sid") and old.get("Sid") == statement["Sid"]
            ]
            merged = [old for old in merged if old not in same] + [statement]
    document["Statement"] = merged
    text = json.dumps(document, indent=2)
    minified = json.dumps(document, separators=(",", ":"))
    return {"id": words_for(text)["digits"], "json": text, "minifiedJson": minified}


def _statements_of(text: str | None) -> list[dict[str, Any]]:
    if not text:
        return []
    try:
        found = json.loads(text).get("Statement", [])
    except (ValueError, AttributeError) as error:
        raise ValueError(f"a policy document is not JSON: {error}") from error
    return [found] if isinstance(found, dict) else list(found)


def _statement(given: Values) -> dict[str, Any]:
    statement: dict[str, Any] = {}
    if given.get("sid"):
        statement["Sid"] = given["sid"]
    effect = given.get("effect") or "Allow"
    if effect not in {"Allow", "Deny"}:
        raise ValueError(f'expected statement effect to be one of Allow, Deny, got "{effect}"')
    statement["Effect"] = effect
    plain = {
        "Action": "actions",
        "NotAction": "notActions",
        "Resource": "resources",
        "NotResource": "notResources",
    }
    for key, name in plain.items():
        if given.get(name):
            statement[key] = _bare(given[name])
    for key, name in {"Principal": "principals", "NotPrincipal": "notPrincipals"}.items():
        if given.get(name):
            statement[key] = _principals(given[name])
    conditions: dict[str, dict[str, Any]] = {}
    for condition in given.get("conditions") or []:
        conditions.setdefault(condition["test"], {})[condition["variable"]] = _bare(
            condition["values"]
        )
    if conditions:
        statement["Condition"] = conditions
    return statement


def _principals(given: list[Values]) -> str | dict[str, Any]:
    if [(entry["type"], entry["identifiers"]) for entry in given] == [("*", ["*"])]:
        return "*"
    merged: dict[str, list[str]] = {}
    for entry in given:
        merged.setdefault(entry["type"], []).extend(entry["identifiers"])
    return {kind: _bare(identifiers) for kind, identifiers in merged.items()}


def _bare(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else sorted(values, reverse=True)


def cluster_auth(arguments: Values, place: Place) -> Values:
    token = base64.urlsafe_b64encode(f"simulated {arguments['name']}".encode()).decode().rstrip("=")
    return {"id": arguments["name"], "token": f"k8s-aws-v1.{token}"}


def cluster(arguments: Values, place: Place) -> Values:
    """Return an existing cluster with this name, with the outputs of the resource."""
    words = words_for(f"cluster {arguments['name']}")
    name = arguments["name"]
    issuer = f"https://oidc.eks.{place['region']}.amazonaws.com/id/{words['HEX32']}"
    vpc = {
        "clusterSecurityGroupId": f"sg-{words['hex17']}",
        "endpointPrivateAccess": True,
        "endpointPublicAccess": False,
        "publicAccessCidrs": [],
        "securityGroupIds": [],
        "subnetIds": [f"subnet-{words['hex17']}"],
        "vpcId": f"vpc-{words['hex17']}",
    }
    return {
        "id": name,
        "arn": f"arn:{place['partition']}:eks:{place['region']}:{place['account']}:cluster/{name}",
        "endpoint": f"https://{words['HEX32']}.gr7.{place['region']}.eks.amazonaws.com",
        "certificateAuthorities": [{"data": words["certificate"]}],
        "identities": [{"oidcs": [{"issuer": issuer}]}],
        "vpcConfig": vpc,
        "status": "ACTIVE",
        "version": "1.34",
        "tags": {},
    }


def addon_version(arguments: Values, place: Place) -> Values:
    """Return a version of the add-on for the minor version. Real clouds publish many versions, but
    the simulation has only one.
    """
    minor = str(arguments["kubernetesVersion"]).rpartition(".")[2]
    return {
        "id": arguments["addonName"],
        "version": f"v1.{minor}.0-eksbuild.{2 if arguments.get('mostRecent') else 1}",
    }


def cluster_versions(arguments: Values, place: Place) -> Values:
    versions = arguments.get("clusterVersions") or [
        f"1.{minor}" for minor in sorted(RELEASES, reverse=True)
    ]
    return {
        "id": place["region"],
        "clusterVersions": [
            {
                "clusterType": "eks",
                "clusterVersion": version,
                "defaultPlatformVersion": "eks.1",
                "defaultVersion": version == versions[0],
                "endOfExtendedSupportDate": "",
                "endOfStandardSupportDate": "",
                "kubernetesPatchVersion": f"{version}.1",
                "releaseDate": "",
                "status": "standard-support",
                "versionStatus": "STANDARD_SUPPORT",
            }
            for version in versions
        ],
    }


def subnets(arguments: Values, place: Place) -> Values:
    """Return two invented subnets. The same filters always give the same subnets."""
    seed = json.dumps(arguments, sort_keys=True)
    found = [words_for(f"{seed} {index}")["hex17"] for index in (1, 2)]
    return {
        "id": place["region"],
        "ids": [f"subnet-{found_id}" for found_id in found],
        "tags": arguments.get("tags") or {},
    }


def subnet(arguments: Values, place: Place) -> Values:
    """Return one existing subnet, whose zone depends on its identifier."""
    subnet_id = str(
        arguments.get("id") or f"subnet-{words_for(json.dumps(arguments, sort_keys=True))['hex17']}"
    )
    letters = _ZONES.get(place["region"], "abc")
    letter = letters[sum(subnet_id.encode()) % len(letters)]
    return {
        "id": subnet_id,
        "arn": f"arn:{place['partition']}:ec2:{place['region']}:{place['account']}:subnet/{subnet_id}",
        "availabilityZone": f"{place['region']}{letter}",
        "availabilityZoneId": _zone_id(place["region"], letters.index(letter) + 1),
        "cidrBlock": "10.0.0.0/19",
        "vpcId": f"vpc-{words_for(place['region'])['hex17']}",
        "state": "available",
        "tags": {},
    }


def ssm_parameter(arguments: Values, place: Place) -> Values:
    """Return the value of a public parameter with an image ID. Other parameters are unknown."""
    name = str(arguments["name"])
    if not name.startswith("/aws/service/"):
        raise ValueError(f"ParameterNotFound: {name}")
    value = f"ami-{words_for(name + place['region'])['hex17']}"
    return {
        "id": name,
        "arn": f"arn:{place['partition']}:ssm:{place['region']}::parameter{name}",
        "insecureValue": value,
        "type": "String",
        "value": value,
        "version": 1,
    }


FUNCTIONS = {
    "aws:index/getAvailabilityZones:getAvailabilityZones": availability_zones,
    "aws:index/getCallerIdentity:getCallerIdentity": caller_identity,
    "aws:index/getPartition:getPartition": partition,
    "aws:index/getRegion:getRegion": region,
    "aws:iam/getPolicyDocument:getPolicyDocument": policy_document,
    "aws:iam/getSessionContext:getSessionContext": session_context,
    "aws:eks/getAddonVersion:getAddonVersion": addon_version,
    "aws:eks/getCluster:getCluster": cluster,
    "aws:eks/getClusterAuth:getClusterAuth": cluster_auth,
    "aws:eks/getClusterVersions:getClusterVersions": cluster_versions,
    "aws:ec2/getSubnet:getSubnet": subnet,
    "aws:ec2/getSubnets:getSubnets": subnets,
    "aws:ssm/getParameter:getParameter": ssm_parameter,
}
