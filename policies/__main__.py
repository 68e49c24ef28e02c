"""What the engine runs: constructs the pack, which serves until the engine ends it."""

import os
import sys

from pulumi_policy import PolicyPack

from dra_planner.errors import PlannerError
from dra_policies.configuration.of_project import configuration_of_project
from dra_policies.pack import DESCRIPTION, NAME, policies

try:
    configured = configuration_of_project(os.environ)
except PlannerError as error:
    sys.exit(f"pulumi-dra: {error}")

PolicyPack(name=NAME, description=DESCRIPTION, policies=policies(configured=configured))
