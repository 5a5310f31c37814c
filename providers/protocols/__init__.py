"""The protocols in which providers are spoken to: how a request is written and a reply is read."""
