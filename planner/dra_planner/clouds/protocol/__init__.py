"""The protocol of a cloud, and facts that are equal on all clouds."""
