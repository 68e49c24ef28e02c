"""The functions of the libraries, by overload."""
