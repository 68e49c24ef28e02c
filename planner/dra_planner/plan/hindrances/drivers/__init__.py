"""What follows from the drivers whose devices claims request."""
