"""Blocks of pages and scripts that hold manifests: fences, heredocs, and files in containers."""
