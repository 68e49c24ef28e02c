"""Resources of a Pulumi stack → the values that rules check. Doesn't import Pulumi."""
