"""What goes to a chat model and what comes back: messages, completions, and what of a reply is an answer."""
