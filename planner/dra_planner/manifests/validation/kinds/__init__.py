"""Rules of each kind of object."""
