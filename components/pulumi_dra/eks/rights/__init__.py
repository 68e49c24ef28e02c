"""IAM roles and KMS keys on AWS."""
