"""Parse YAML and JSON into plain data with line numbers, for manifests, fleets, and stacks."""
