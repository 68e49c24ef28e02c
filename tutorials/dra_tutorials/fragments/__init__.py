"""Parts of manifests, with the object that they belong to."""
