"""Other ways to declare a resource → the way that rules read."""
