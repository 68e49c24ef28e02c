"""Rules about node images and boot scripts."""
