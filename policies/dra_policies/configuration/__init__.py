"""Read `pulumi-dra.yaml` and the exemptions in objects, for the command and the policy pack."""
