"""The `runtime.options` of Pulumi.yaml, PulumiPolicy.yaml, and PulumiPlugin.yaml, which select the
Python interpreter.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from google.protobuf.struct_pb2 import Struct


class NoSuchEnvironment(Exception):
    """The folder of the virtual environment has no interpreter. The message names the path."""


def interpreter(options: Struct, program_directory: str, *, default: str = "") -> str:
    """Return the Python of the `virtualenv` option, relative to the program's folder.

    Without the option, or if `pulumi install` hasn't created the environment yet, return this
    interpreter.

    `default` is the environment of programs that don't set one, if it exists: `venv` for
    components, in which Pulumi's own host installs their requirements
    (pulumi/pulumi:sdk/python/toolchain/toolchain.go@v3.259.0). Without a virtual environment,
    `PULUMI_PYTHON_CMD` names the interpreter, as in Pulumi's own host. Raises NoSuchEnvironment if
    the folder exists but doesn't contain an interpreter.
    """
    name = options.fields["virtualenv"].string_value if "virtualenv" in options.fields else ""
    if not name and default and Path(program_directory, default, "bin", "python").exists():
        name = default
    if not name or not Path(program_directory, name).exists():
        return os.environ.get("PULUMI_PYTHON_CMD") or sys.executable
    python = Path(program_directory, name, "bin", "python")
    if not python.exists():
        raise NoSuchEnvironment(
            f"the virtual environment {Path(program_directory, name)} doesn't contain bin/python; "
            "create the environment, or correct runtime.options.virtualenv"
        )
    # The link isn't resolved, because Python uses the link's path to find its environment.
    return os.path.abspath(python)
