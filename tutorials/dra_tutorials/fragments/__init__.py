"""Find the object that a part of a manifest belongs to."""
