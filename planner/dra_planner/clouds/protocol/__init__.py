"""The protocol of a cloud, and facts that are the same on all clouds."""
