"""What a device driver has to answer, and the defaults that most of them share."""
