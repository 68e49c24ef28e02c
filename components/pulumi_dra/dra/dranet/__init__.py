"""DRANET, where it is installed from a chart."""
