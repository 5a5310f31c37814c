"""LLM-Coordination: what a player could see, and what the rules decide about an answer or a move."""
