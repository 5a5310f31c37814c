"""What positions of the games of LLM-Coordination are worth (formats/values.md, sections 3 to 5).

``hanabi``         the most points that can still be made, at most
``capture``        turns to the capture
``escape``         chance of escape and turns to it
``escape_tables``  all its states as numbers, for compiled functions
"""
