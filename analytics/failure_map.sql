-- failure_map: which categories of the benchmarks' taxonomies are the same kind of failure; a table of data, one line a category.
-- One row is (taxonomy, category).
--   taxonomy  text  name of the taxonomy, as in failures
--   category  text  category inside it
--   common  text  none: nothing went wrong; format: the output is not in the required form; infeasible_action: what the engine must refuse;
--                 wrong_reference: the right kind of action about the wrong thing or place; redundant_talk: says or asks what is known;
--                 unanswered_request: a partner's request or question comes to nothing; flawed_pragmatics: says what does not help the
--                 listener now; inefficient_inference: does not conclude what follows from what it knows; limited_search: tries what
--                 does not lead on, too early or again
--   meaning  text  what the category is, in a few words
--   source  text  paper, table or section the category comes from
-- Reads: nothing.
create or replace view failure_map as

select *
from (values
        ('craft_repaired', 'correct', 'none', 'a verified candidate was carried out', 'CRAFT formats section 6, step 5'),
        ('craft_repaired', 'wrong_position', 'wrong_reference', 'the accepted move is at a place no candidate names', 'CRAFT formats section 6, step 6'),
        ('craft_repaired', 'wrong_color', 'wrong_reference', 'right place, block of another colour', 'CRAFT formats section 6, step 7, colour told from size'),
        ('craft_repaired', 'wrong_size', 'wrong_reference', 'right place, block of another size', 'CRAFT formats section 6, step 7, colour told from size'),
        ('craft_repaired', 'wrong_color_and_size', 'wrong_reference', 'right place, another block altogether', 'CRAFT formats section 6, step 7'),
        ('craft_repaired', 'wrong_span', 'wrong_reference', 'right block, other second cell', 'CRAFT formats section 6, step 8'),
        ('craft_repaired', 'engine_layer_error', 'infeasible_action', 'the layer is not the next free or the top one', 'CRAFT formats section 4.7, P2 and R2'),
        ('craft_repaired', 'engine_span_error', 'infeasible_action', 'a large block without a fitting second cell', 'CRAFT formats section 4.7, L1 to L8 and R3 to R5'),
        ('craft_repaired', 'engine_full_stack_error', 'infeasible_action', 'the stack is full', 'CRAFT formats section 4.7, P3'),
        ('craft_repaired', 'engine_empty_cell_error', 'infeasible_action', 'removal from an empty cell', 'CRAFT formats section 4.7, R1'),
        ('craft_repaired', 'engine_execution_error', 'infeasible_action', 'refused in execution', 'CRAFT formats section 4.7, X1 and X2'),
        ('craft_repaired', 'engine_block_error', 'format', 'no such block code', 'CRAFT formats section 4.7, P1'),
        ('craft_repaired', 'engine_coordinate_error', 'format', 'the coordinate cannot be read', 'CRAFT formats section 4.7, rows 2 to 4'),
        ('einstein_published', 'no_error', 'none', 'no category applies to the step', 'Einstein Puzzles (arXiv 2510.25595), Table 2'),
        ('einstein_published', 'format_following', 'format', 'the answer cannot be parsed', 'Einstein Puzzles, Table 2, format following'),
        ('einstein_published', 'object_not_in_source_bin', 'infeasible_action', 'the object does not lie there', 'Einstein Puzzles, Table 2, affordance'),
        ('einstein_published', 'source_bin_not_reachable', 'infeasible_action', 'the player cannot reach the bin it takes from', 'Einstein Puzzles, Table 2, affordance'),
        ('einstein_published', 'dest_bin_not_reachable', 'infeasible_action', 'the player cannot reach the bin it puts into', 'Einstein Puzzles, Table 2, affordance'),
        ('einstein_published', 'same_source_dest', 'infeasible_action', 'source and destination are one', 'Einstein Puzzles, Table 2, affordance'),
        ('einstein_published', 'redundant_sharing', 'redundant_talk', 'the item was shared before', 'Einstein Puzzles, Table 2, communication'),
        ('einstein_published', 'seek_known_object', 'redundant_talk', 'asks for what it knows', 'Einstein Puzzles, Table 2, communication'),
        ('einstein_published', 'no_share_after_seek', 'unanswered_request', 'a question is not answered by a share', 'Einstein Puzzles, Table 2, communication'),
        ('einstein_published', 'wrong_share_after_seek', 'flawed_pragmatics', 'answers a question with something else', 'Einstein Puzzles, Table 2, communication'),
        ('einstein_published', 'wrong_rule', 'inefficient_inference', 'moves a known object against what follows from what it knows', 'Einstein Puzzles, Table 2, reasoning'),
        ('einstein_published', 'wrong_guess', 'limited_search', 'moves an unknown object to a bin that is wrong', 'Einstein Puzzles, Table 2, reasoning'),
        ('asympuzl_derived', 'no_json', 'format', 'the answer is no JSON', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'invalid_action', 'infeasible_action', 'an action names no position, shape or colour of the puzzle', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'repeated_message', 'redundant_talk', 'the same message again', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'ignored_partner', 'unanswered_request', 'a true fact of the partner changes nothing', 'AsymPuzl formats section 9; the paper''s example of no cooperation'),
        ('asympuzl_derived', 'overcorrection', 'inefficient_inference', 'a right entry is made wrong', 'AsymPuzl formats section 9; the paper''s over-correction'),
        ('asympuzl_derived', 'wasted_write', 'limited_search', 'an action that changes nothing', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'correction_spiral', 'limited_search', 'a position is changed again and again and stays wrong', 'AsymPuzl formats section 9'),
        ('asympuzl_derived', 'out_of_knowledge_claim', 'flawed_pragmatics', 'states what it cannot know', 'AsymPuzl formats section 9; the paper''s miscommunication'),
        ('asympuzl_derived', 'correct', 'none', 'no label applies', 'AsymPuzl formats section 9'),
        ('overcooked_initiating', 'correct', 'none', 'the request fits the next step', 'Collab-Overcooked, initiating collaboration'),
        ('overcooked_initiating', 'premature', 'limited_search', 'asks for a later step first', 'Collab-Overcooked, premature initiation'),
        ('overcooked_initiating', 'repetitive', 'redundant_talk', 'asks again for what is done', 'Collab-Overcooked, repetitive initiation'),
        ('overcooked_initiating', 'irrelevant', 'flawed_pragmatics', 'asks for what the task never needs', 'Collab-Overcooked, irrelevant collaboration'),
        ('overcooked_initiating', 'infeasible', 'infeasible_action', 'asks for what the partner cannot do now', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_initiating', 'wrong_parameter', 'wrong_reference', 'right action, wrong object or place', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_initiating', 'no_request', 'flawed_pragmatics', 'says nothing the partner could act on', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'correct', 'none', 'the response fits the request', 'Collab-Overcooked, responding to collaboration'),
        ('overcooked_responding', 'followed_wrong_request', 'inefficient_inference', 'carries out a request that does not fit the task', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'refused', 'unanswered_request', 'does not act on a request', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'repetitive', 'limited_search', 'does again what is done', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'missing_step', 'limited_search', 'leaves a step of the request out', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'wrong_parameter', 'wrong_reference', 'right action, wrong object or place', 'Collab-Overcooked formats section 7, event rules'),
        ('overcooked_responding', 'infeasible', 'infeasible_action', 'tries what cannot be done now', 'Collab-Overcooked formats section 7, event rules'),
        ('coordqa_answer', 'correct', 'none', 'the right option', 'LLM-Coordination, CoordinationQA'),
        ('coordqa_answer', 'wrong_option', 'inefficient_inference', 'another option of the question', 'LLM-Coordination, CoordinationQA'),
        ('coordqa_answer', 'not_an_option', 'format', 'names no option of the question', 'LLM-Coordination formats, answer extraction'),
        ('coordqa_answer', 'no_answer', 'format', 'holds no answer', 'LLM-Coordination formats, answer extraction'),
        ('coordqa_answer', 'truncated', 'format', 'ends before the answer', 'LLM-Coordination formats, answer extraction'),
        ('coordqa_answer', 'refusal', 'unanswered_request', 'the model declines', 'LLM-Coordination formats, answer extraction')
) as lines (taxonomy, category, common, meaning, source);
