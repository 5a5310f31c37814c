"""Einstein Puzzles on pages: its page and the drawing of its states."""
