"""Who&When: failed runs of multi-agent systems, with the agent and the step that people hold responsible."""
