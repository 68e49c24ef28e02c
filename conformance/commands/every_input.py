"""Run the commands on every input of the tests, with and without the solver. The tests themselves
run only a sample without the solver.

`plan` and `check` must agree on every input in the repository, and each must finish within 10 s of
CPU time. The policy pack must find every seeded fault in a preview.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
TESTS: Final = ("tests/command/truth/test_corpora.py", "tests/policies/test_computed_values.py")


def main() -> int:
    """Return the exit status of the tests."""
    words = [sys.executable, "-m", "pytest", "-q", *TESTS]
    return subprocess.run(
        words, cwd=ROOT, env={**os.environ, "EVERY_INPUT": "1"}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
