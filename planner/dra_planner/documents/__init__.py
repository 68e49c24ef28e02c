"""Texts of YAML or JSON as plain data that remembers its lines: manifests, fleets and stacks are read by this alone."""
