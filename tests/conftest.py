"""Property tests have no deadlines, neither for their cases nor for generating the cases.

Python caches compiled files even if the shell disables the cache, because tests start hundreds of
interpreters, and each would compile Pulumi's SDKs again. The garbage collector doesn't scan the
modules that are imported for all tests.
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
