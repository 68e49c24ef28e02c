"""YAML and JSON as plain data with line numbers: the only reader of manifests, fleets, and
stacks.
"""
