"""The solver shares standard output with answers in JSON, so it must not print anything."""

import subprocess
import sys

_SOLVE = """
import highspy
highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
highs.addVars(1, [0.0], [1.0])
highs.run()
"""


def test_solver_prints_nothing() -> None:
    # In a separate process, because the library prints its banner once per process.
    done = subprocess.run(
        [sys.executable, "-c", _SOLVE], capture_output=True, check=True, timeout=60
    )

    assert done.stdout == b""
