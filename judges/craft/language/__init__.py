"""The reader of director language: free text against the board and the speaker's frame gives typed claims.

One room a step: `text` (asides and layout out, words and their sentences) -> `words` (items: blocks, places, actions; the vocabulary is
data there) -> `clauses` (one predicate each, their arguments as groups; `places` resolves cells, layers) -> `requests` (drafts of what is
asked for and stated, merged and put in order) -> `understanding` (what the words bear out, and what was not understood). `reader` walks
through them, `typed` gives the result as typed claims.
"""

from judges.craft.language.model import BlockType, Claim, TextReading
from judges.craft.language.reader import read
from judges.craft.language.records import claim_record, claims_of

__all__ = ["BlockType", "Claim", "TextReading", "claim_record", "claims_of", "read"]
