-- einstein_failure_map: the part of failure_map that is about Einstein Puzzles; a table of data, one line a category.
-- One row is (taxonomy, category).
--   taxonomy  text  name of the taxonomy, as in failures
--   category  text  category inside it
--   common  text  none: nothing went wrong; format: the output is not in the required form; infeasible_action: what the engine must refuse;
--                 wrong_reference: the right kind of action about the wrong thing or place; redundant_talk: says or asks what is known;
--                 unanswered_request: a partner's request or question comes to nothing; unhelpful_message: a message that does not help
--                 the partner now; wrong_inference: acts against what follows from what the agent knows; unsupported_guess: acts on
--                 what the agent cannot know; no_progress: an action that does not advance the goal, too early, repeated or idle;
--                 harness: the game program dropped or misread what the agent wrote
--   meaning  text  what the category is, in a few words
--   source  text  paper, table or section the category comes from
-- Reads: nothing.
create or replace view einstein_failure_map as

select *
from (values
        ('einstein_harness', 'lost_reply', 'harness', 'a call failed or its reply was cut, so there was no answer', 'cotrace, docs/attribution.md, harness'),
        ('einstein_published', 'no_error', 'none', 'no category applies to the step', 'Einstein Puzzles (arXiv 2510.25595), Table 2'),
        ('einstein_published', 'format_following', 'format', 'the answer cannot be parsed', 'Einstein Puzzles, Table 2, format following'),
        ('einstein_published', 'object_not_in_source_bin', 'infeasible_action', 'the object does not lie there', 'Einstein Puzzles, Table 2, affordance'),
        ('einstein_published', 'source_bin_not_reachable', 'infeasible_action', 'the player cannot reach the bin it takes from', 'Einstein Puzzles, Table 2, affordance'),
        ('einstein_published', 'dest_bin_not_reachable', 'infeasible_action', 'the player cannot reach the bin it puts into', 'Einstein Puzzles, Table 2, affordance'),
        ('einstein_published', 'same_source_dest', 'infeasible_action', 'source and destination are one', 'Einstein Puzzles, Table 2, affordance'),
        ('einstein_published', 'redundant_sharing', 'redundant_talk', 'the item was shared before', 'Einstein Puzzles, Table 2, communication'),
        ('einstein_published', 'seek_known_object', 'redundant_talk', 'asks for what it knows', 'Einstein Puzzles, Table 2, communication'),
        ('einstein_published', 'no_share_after_seek', 'unanswered_request', 'a question is not answered by a share', 'Einstein Puzzles, Table 2, communication'),
        ('einstein_published', 'wrong_share_after_seek', 'unhelpful_message', 'answers a question with something else', 'Einstein Puzzles, Table 2, communication'),
        ('einstein_published', 'wrong_rule', 'wrong_inference', 'moves a known object against what follows from what it knows', 'Einstein Puzzles, Table 2, reasoning'),
        ('einstein_published', 'wrong_guess', 'unsupported_guess', 'moves an unknown object to a bin that is wrong', 'Einstein Puzzles, Table 2, reasoning')
) as lines (taxonomy, category, common, meaning, source);
