"""Tests can import the shared modules for selectors by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
