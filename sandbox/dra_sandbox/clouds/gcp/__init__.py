"""The stand-in for the Google Cloud provider."""
