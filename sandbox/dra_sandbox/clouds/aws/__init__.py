"""The stand-in for the AWS provider."""
