"""The same project as in the tests of the command."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "command"))

from command_project import EXAMPLES, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with the stack `dev`, a pool of up to four L4 machines, and two pods."""
    made = Project(tmp_path)
    made.stack()
    made.write(
        "workloads/two-pods.yaml",
        (EXAMPLES / "workloads" / "two-pods.yaml").read_text(encoding="utf-8"),
    )
    return made
