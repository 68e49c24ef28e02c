"""The part of a report that shows how a claim fits on a node."""
