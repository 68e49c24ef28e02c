"""NVIDIA drivers that a stack installs without a release of their chart, and what installs them."""
