"""The reader of director language: free text against the board and the speaker's frame gives typed claims.

The pipeline: `tokens` (words) -> `lexer` (items: blocks, places, actions) -> `clauses` (one predicate each, their arguments as
`groups`) -> `actions` and `statements` (drafts of claims; `places` resolves cells and layers) -> `discourse` (merging and order) ->
`reader`. The vocabulary is data, in `vocabulary`.
"""

from judges.craft.language.model import BlockType, Claim, Reading
from judges.craft.language.reader import read
from judges.craft.language.records import claim_record, claims_of

__all__ = ["BlockType", "Claim", "Reading", "claim_record", "claims_of", "read"]
