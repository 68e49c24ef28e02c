"""The view that rules look at, and questions that several rules ask of it. Pure: no Pulumi, no rules."""
