"""DRANET on clusters where its Helm chart installs it."""
