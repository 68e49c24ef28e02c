"""The forms that patterns of the table `api_constraints` require, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_IMAGE: Final = 'an image name with letters, digits, and "-"'
_QUANTITY: Final = 'a quantity, for example "100Gi"'

FORMS: Final[Mapping[str, str]] = {
    r"^/": "a full resource ID (/subscriptions/…)",
    r"^arn:aws(-[a-z]+)*:": "an ARN (arn:aws:…)",
    r"^arn:aws[a-z-]*:eks::aws:cluster-access-policy/": "the ARN of an access policy "
    "(arn:aws:eks::aws:cluster-access-policy/NAME)",
    r"^arn:[^:]+:(sts:|iam::[0-9]*:(?!role/|user/))": "the ARN of an IAM role or user "
    "(arn:aws:iam::ACCOUNT:role/NAME)",
    r"^system:": 'a group whose name doesn\'t start with "system:"',
    r"^eks-": 'a name that doesn\'t start with "eks-"',
    r"^lt-[a-z0-9]+$": "the ID of a launch template (lt-…)",
    r"ami-[0-9a-z]+": "the ID of an image (ami-…)",
    r"^cr-[0-9a-z]+$": "the ID of a capacity reservation (cr-…)",
    r"^[0-9]{12}$": "an account ID with 12 digits",
    r"^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$": 'an IPv4 address, for example "10.0.0.10"',
    r"^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$": 'an IPv4 range, for example "10.0.0.0/16"',
    r"^[0-9a-fA-F.:]+/[0-9]+$": 'an address range, for example "203.0.113.0/24"',
    r"^(10|172\.(1[6-9]|2[0-9]|3[0-1])|192\.168)\..*": "a range in 10.0.0.0/8, 172.16.0.0/12, or "
    "192.168.0.0/16",
    r"^\d+ \d+$": 'two ports separated by a space, for example "32768 60999"',
    r"^\d+\.\d+(\.\d+)?$": 'a Kubernetes version, for example "1.35" or "1.35.2"',
    r"^\d{2}:\d{2}$": 'a time in the form HH:MM, for example "02:00"',
    r"^([01]\d|2[0-3]):[0-5]\d$": 'a time in the form HH:MM, for example "02:00"',
    r"^(-|\+)[0-9]{2}:[0-9]{2}$": 'an offset in the form +HH:MM or -HH:MM, for example "+01:00"',
    r"^\d+$": 'an integer in quotes, for example "10"',
    r"^\d+s$": 'a number of seconds, for example "10s"',
    r"^\d+m$": 'a number of minutes, for example "10m"',
    r"^\d+(ns|us|ms|s|m|h)$": 'a number with a unit of time, for example "30s"',
    r"^([0-9]+(s|m|h))+$": 'a duration in hours, minutes, or seconds, for example "1h30m"',
    r"^(([0-9]+(s|m|h))+|Never)$": 'a duration, for example "30m", or "Never"',
    r"^https://": "a URL that starts with https://",
    r"^(RRULE:)?FREQ=": 'a recurrence rule, for example "FREQ=WEEKLY;BYDAY=SA,SU"',
    r"^[a-z]+-[a-z]+[0-9]+-[a-z0-9]+$": 'a zone, for example "us-central1-a"',
    r"\.svc\.id\.goog$": "PROJECT.svc.id.goog",
    r"^asm-\d+-\d+$": 'a service mesh revision, for example "asm-1-24"',
    r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$": 'a name of 1 to 40 lowercase letters, digits, or "-" that '
    "starts with a letter and ends with a letter or digit",
    r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$": 'a name of 1 to 63 lowercase letters, digits, or "-" that '
    "starts with a letter and ends with a letter or digit",
    r"[a-zA-Z0-9\-]+": _IMAGE,
    r"^\d+(E|P|T|G|M|K|Ei|Pi|Ti|Gi|Mi|Ki)$": _QUANTITY,
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|"
    r"([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$": _QUANTITY,
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?"
    r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$": 'a key, for example "example.com/team"',
    r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$": "a label value: letters, digits, "
    '"-", "_", and "."',
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$": "a name of lowercase "
    'letters, digits, "-", and "."',
    r"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$": (
        'a duration, for example "15s"'
    ),
    r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$": 'a duration in hours and minutes, for example "8h"',
    r"^((100|[0-9]{1,2})%|[0-9]+)$": 'a number or a percentage, for example "10%"',
    r"(?i)^\/subscriptions\/[^\/]+\/resourceGroups\/[a-zA-Z0-9_\-().]{0,89}[a-zA-Z0-9_\-()]"
    r"\/providers\/Microsoft\.Network\/virtualNetworks\/[^\/]+\/subnets\/[^\/]+$": (
        "the full ID of a subnet (/subscriptions/…/subnets/NAME)"
    ),
    r"^pg-[0-9a-z]+$": "the ID of a placement group (pg-…)",
    r"sg-[0-9a-z]+": "the ID of a security group (sg-…)",
    r"subnet-[0-9a-z]+": "the ID of a subnet (subnet-…)",
    r"^[a-zA-Z0-9]+@.+$": 'an image family and a version, for example "al2023@v20251112"',
    r"^(al2|al2023|bottlerocket|windows2019|windows2022|windows2025)@": (
        'an image family and a version, for example "al2023@v20251112"'
    ),
    r"^([0-9]{1,3}\.){3}[0-9]{1,3}(\/([0-9]|[1-2][0-9]|3[0-2]))?$": (
        'an IPv4 range, for example "10.244.0.0/16"'
    ),
    r"^https://[^/]+/keys/[^/]+/[^/]+$": "the URL of a key version "
    "(https://VAULT.vault.azure.net/keys/NAME/VERSION)",
    r"^(10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)|:": (
        'a public IPv4 range, for example "203.0.113.0/24"'
    ),
    r"(?i)/providers/Microsoft.Authorization/roleDefinitions/": "the full ID of a role definition "
    "(/subscriptions/…/providers/Microsoft.Authorization/roleDefinitions/…)",
    r"^(\d{1,2}|100)$": 'a percentage in quotes without the percent sign, for example "45"',
    r"^\d+(\.\d+)?$": 'a decimal number, for example "1.25"',
    r"^(NoSchedule|PreferNoSchedule|NoExecute)$": "NoSchedule, PreferNoSchedule, or NoExecute",
    r"^serviceAccount:[^\[]*\.svc\.id\.goog(?!\[[^/\[\]:]+/[^/\[\]:]+\]$)": (
        "serviceAccount:PROJECT.svc.id.goog[NAMESPACE/NAME]"
    ),
}
"""Noun phrases by pattern. For a value that a pattern rejects, the form of an accepted value."""
