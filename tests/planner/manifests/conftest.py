"""Property tests take the time they need: none depends on the clock. Modules beside the tests are importable."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
