"""Property tests take the time they need: neither their cases nor the drawing of them is held to the clock.

What Python compiled is kept, whatever the shell says: tests start hundreds of interpreters, and each would compile
Pulumi's SDKs again.
"""

import os
import sys

from hypothesis import HealthCheck, settings

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
