"""Where requests go: a server of the network, one that the nodes of a cluster speak to, or a library."""
