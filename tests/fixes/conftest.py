"""A project in which tests run the command, as in `tests/command`. Tests can import the modules in
this folder by name.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "command"))
sys.path += [
    str(Path(__file__).parents[1] / folder)
    for folder in ("policies", "planner/allocation", "planner/plan", "planner/cel")
]

from command_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder with the stack `dev` and nothing to plan yet."""
    made = Project(tmp_path)
    made.stack()
    return made
