"""Rules about cluster parts without which nodes don't publish devices."""
