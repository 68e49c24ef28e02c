"""Property tests take the time they need: neither their cases nor the drawing of them is held to
the clock.

What Python compiled is kept, whatever the shell says: tests start hundreds of interpreters, and
each would compile Pulumi's SDKs again. And what was imported for all tests is not looked through
again and again for what could be freed.
"""

import gc
import os
import sys

from hypothesis import HealthCheck, settings

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
gc.set_threshold(100_000, 20, 20)

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_collection_finish() -> None:
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.freeze()
