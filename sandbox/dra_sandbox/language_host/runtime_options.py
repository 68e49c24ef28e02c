"""The `runtime.options` of Pulumi.yaml, PulumiPolicy.yaml and PulumiPlugin.yaml: which Python runs
the program.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from google.protobuf.struct_pb2 import Struct


class NoSuchEnvironment(Exception):
    """The virtual environment that the project file names is not there; the message says where it
    was looked for.
    """


def interpreter(options: Struct, program_directory: str, *, default: str = "") -> str:
    """The Python of the `virtualenv` option, relative to the program's folder; without one, our
    own.

    `default` is the environment of programs that name none, used where it is there: `venv` for
    components, in which the vendor's host installs what they need
    (pulumi/pulumi:sdk/python/toolchain/toolchain.go@v3.259.0).

    `PULUMI_PYTHON_CMD` names the interpreter where no virtual environment is given, as with the
    vendor's host. Raises NoSuchEnvironment when the folder holds no interpreter.
    """
    name = options.fields["virtualenv"].string_value if "virtualenv" in options.fields else ""
    if not name and default and Path(program_directory, default, "bin", "python").exists():
        name = default
    if not name:
        return os.environ.get("PULUMI_PYTHON_CMD") or sys.executable
    python = Path(program_directory, name, "bin", "python")
    if not python.exists():
        raise NoSuchEnvironment(
            f"the virtual environment {Path(program_directory, name)} has no bin/python:"
            " create it, or correct runtime.options.virtualenv"
        )
    # Not resolved: the name of the link is what makes Python use the environment it belongs to.
    return os.path.abspath(python)
