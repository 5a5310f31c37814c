-- asympuzl_failure_map: the part of failure_map that is about AsymPuzl; a table of data, one line a category.
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
create or replace view asympuzl_failure_map as

select *
from (values
        ('asympuzl_derived', 'no_json', 'format', 'the answer is no JSON', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'invalid_action', 'infeasible_action', 'an action names no position, shape or colour of the puzzle', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'repeated_message', 'redundant_talk', 'the same message again', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'ignored_partner', 'unanswered_request', 'a true fact of the partner changes nothing', 'AsymPuzl formats section 9; the paper''s example of no cooperation'),
        ('asympuzl_derived', 'overcorrection', 'wrong_inference', 'a right entry is made wrong', 'AsymPuzl formats section 9; the paper''s over-correction'),
        ('asympuzl_derived', 'wasted_write', 'no_progress', 'an action that changes nothing', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'correction_spiral', 'no_progress', 'a position is changed again and again and stays wrong', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'out_of_knowledge_claim', 'unhelpful_message', 'states what it cannot know', 'AsymPuzl formats section 9; the paper''s miscommunication'),
        ('asympuzl_derived', 'wrong_statement', 'unhelpful_message', 'states what its own clues contradict', 'cotrace; the paper''s miscommunication'),
        ('asympuzl_harness', 'lost_reply', 'harness', 'a call failed or its reply was cut, so there was no answer', 'cotrace, docs/attribution.md, harness'),
        ('asympuzl_derived', 'correct', 'none', 'no label applies', 'AsymPuzl formats section 9')
) as lines (taxonomy, category, common, meaning, source);
