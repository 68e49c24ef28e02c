"""The engine's protocol without the SDK around it.

The generated classes are all that a plugin needs of the Pulumi SDK, and importing the SDK takes
most of the time in which a plugin starts; an operation of the engine starts several.
"""

from __future__ import annotations

import importlib.util
import sys


def import_protocol_alone() -> None:
    """From now on `pulumi.runtime.proto` can be imported in this process, and nothing else of the
    SDK.

    Its parent packages stand there without having run. Does nothing where the SDK is imported
    already.
    """
    for name in ("pulumi", "pulumi.runtime"):
        if name not in sys.modules:
            spec = importlib.util.find_spec(name)
            assert spec is not None, "the Pulumi SDK is not installed: install pulumi-dra[sandbox]"
            sys.modules[name] = importlib.util.module_from_spec(spec)
