"""The reader of director language: free text against the board and the speaker's frame gives typed claims.

The modules in the order of their work: `tokens` (words and their sentences) -> `lexer` with `phrases` (items: blocks, places, actions; the
`vocabulary` is data) -> `clauses` (one predicate each) -> `requests` (`drafts` of what is asked for and stated, with cells by `places`;
`amendments` correct them) -> `review` with `clause_words` (what the words bear out, and what was not understood). `reader` walks
through them and gives `claims`; `typed` gives them as the typed claims of the game, with `perspective`: who sees what.
"""

from judges.craft.language.reader import claim_record, claims_of, read
from judges.craft.language.vocabulary import BlockType, Claim, TextReading

__all__ = ["BlockType", "Claim", "TextReading", "claim_record", "claims_of", "read"]
