"""The view that rules check, and queries that several rules share. Pure: no Pulumi, no rules."""
