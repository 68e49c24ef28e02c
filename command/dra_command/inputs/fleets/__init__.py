"""Fleets as inputs: files, shared fleets and catalogs, and the defaults of new fleets."""
