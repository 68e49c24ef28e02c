"""NVIDIA drivers that a stack installs without their chart, and their installers."""
