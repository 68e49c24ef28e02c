"""Helm releases: images, namespaces, status, and the optional ones."""
