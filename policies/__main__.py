"""What the engine runs: constructs the pack, which serves until the engine ends it."""

from dra_policies.pack import DESCRIPTION, NAME, policies
from pulumi_policy import PolicyPack

PolicyPack(name=NAME, description=DESCRIPTION, policies=policies())
