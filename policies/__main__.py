"""What the engine runs: constructs the pack, which serves until the engine ends it."""

from pulumi_policy import PolicyPack

from dra_policies.pack import DESCRIPTION, NAME, policies

PolicyPack(name=NAME, description=DESCRIPTION, policies=policies())
