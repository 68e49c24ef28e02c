"""NVIDIA's device plugin, kept off DRA nodes."""
