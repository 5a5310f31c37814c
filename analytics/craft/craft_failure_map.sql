-- craft_failure_map: the part of failure_map that is about CRAFT; a table of data, one line a category.
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
create or replace view craft_failure_map as

select *
from (values
        ('craft_repaired', 'correct', 'none', 'a verified move was carried out', 'CRAFT formats section 6, step 5'),
        ('craft_repaired', 'wrong_position', 'wrong_reference', 'the move was accepted, but no verified move goes to that place', 'CRAFT formats section 6, step 6'),
        ('craft_repaired', 'wrong_color', 'wrong_reference', 'right place, block of another colour', 'CRAFT formats section 6, step 7, colour told from size'),
        ('craft_repaired', 'wrong_size', 'wrong_reference', 'right place, block of another size', 'CRAFT formats section 6, step 7, colour told from size'),
        ('craft_repaired', 'wrong_color_and_size', 'wrong_reference', 'right place, another block altogether', 'CRAFT formats section 6, step 7'),
        ('craft_repaired', 'wrong_span', 'wrong_reference', 'right block, other second cell', 'CRAFT formats section 6, step 8'),
        ('craft_repaired', 'engine_layer_error', 'infeasible_action', 'the layer is not the next free or the top one', 'CRAFT formats section 4.7, P2 and R2'),
        ('craft_repaired', 'engine_span_error', 'infeasible_action', 'a large block without a fitting second cell', 'CRAFT formats section 4.7, L1 to L8 and R3 to R5'),
        ('craft_repaired', 'engine_full_stack_error', 'infeasible_action', 'the stack is full', 'CRAFT formats section 4.7, P3'),
        ('craft_repaired', 'engine_empty_cell_error', 'infeasible_action', 'removal from an empty cell', 'CRAFT formats section 4.7, R1'),
        ('craft_repaired', 'engine_execution_error', 'infeasible_action', 'refused in execution', 'CRAFT formats section 4.7, X1 and X2'),
        ('craft_repaired', 'unreadable_reply', 'format', 'the builder''s reply is no move and no question', 'CRAFT formats section 4.6; ours'),
        ('craft_repaired', 'engine_block_error', 'format', 'no such block code', 'CRAFT formats section 4.7, P1'),
        ('craft_repaired', 'engine_coordinate_error', 'format', 'the coordinate cannot be read', 'CRAFT formats section 4.7, rows 2 to 4')
) as lines (taxonomy, category, common, meaning, source);
