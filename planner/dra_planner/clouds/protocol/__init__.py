"""What a cloud has to answer, and what is the same on all of them."""
