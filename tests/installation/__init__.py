"""Whether what is built can be installed, and works away from its source."""
