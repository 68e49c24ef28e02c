"""The view that rules check, and questions that several rules ask. Pure: no Pulumi, no rules."""
