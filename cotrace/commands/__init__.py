"""The verbs of the command line, one module each; every module offers its click command as `command`."""
