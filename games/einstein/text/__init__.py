"""What Einstein players are told, and the filters over their answers."""
