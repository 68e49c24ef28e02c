"""Convert a Pulumi stack's resources to the values that rules check. Doesn't import Pulumi."""
