"""Import the engine's protocol without the rest of the SDK.

A plugin needs only the generated classes of the Pulumi SDK. Importing the whole SDK would take most
of a plugin's start time, and one operation of the engine starts multiple plugins.
"""

from __future__ import annotations

import importlib.util
import sys


def import_protocol_alone() -> None:
    """Make `pulumi.runtime.proto` importable without importing the rest of the SDK.

    This creates the parent packages without running their code, and does nothing if the SDK is
    already imported.
    """
    for name in ("pulumi", "pulumi.runtime"):
        if name not in sys.modules:
            spec = importlib.util.find_spec(name)
            assert spec is not None, "the Pulumi SDK isn't installed; install pulumi-dra[sandbox]"
            sys.modules[name] = importlib.util.module_from_spec(spec)
