"""Rules about node images, and about what nodes run at boot."""
