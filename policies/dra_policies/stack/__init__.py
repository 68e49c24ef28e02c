"""Resources of a Pulumi stack → the values that rules look at. Imports no Pulumi."""
