"""Makes what the tests of selectors share importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
