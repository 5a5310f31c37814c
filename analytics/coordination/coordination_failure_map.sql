-- coordination_failure_map: the part of failure_map that is about LLM-Coordination; a table of data, one line a category.
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
create or replace view coordination_failure_map as

select *
from (values
        ('coordqa_answer', 'several', 'format', 'names several options', 'LLM-Coordination formats, answer extraction'),
        ('coordqa_answer', 'failed_call', 'format', 'the request to the model failed', 'LLM-Coordination formats section 1.5, placeholder'),
        ('hanabi_move', 'safe_play', 'none', 'a play that the player could know to be right', 'LLM-Coordination formats section 3.1; games/coordination/hanabi/moves.py'),
        ('hanabi_move', 'clued_play', 'none', 'a play that the partner asked for with its last clue', 'LLM-Coordination formats section 2; games/coordination/hanabi/moves.py'),
        ('hanabi_move', 'lucky_play', 'unsupported_guess', 'a play on a guess that came out right', 'LLM-Coordination formats section 3.1; games/coordination/hanabi/moves.py'),
        ('hanabi_move', 'misplay', 'unsupported_guess', 'a play that could not be known to be right, and was not', 'LLM-Coordination formats section 3.1; games/coordination/hanabi/moves.py'),
        ('hanabi_move', 'clue_playable', 'none', 'a clue to a card that can be played', 'LLM-Coordination formats section 3.1; games/coordination/hanabi/moves.py'),
        ('hanabi_move', 'clue_new', 'none', 'a clue that tells something new', 'LLM-Coordination formats section 3.1; games/coordination/hanabi/moves.py'),
        ('hanabi_move', 'clue_redundant', 'redundant_talk', 'a clue that tells what is known', 'LLM-Coordination formats section 3.1; games/coordination/hanabi/moves.py'),
        ('hanabi_move', 'discard', 'none', 'a card that is not the last of its kind', 'LLM-Coordination formats section 3.1; games/coordination/hanabi/moves.py'),
        ('hanabi_move', 'discard_last', 'wrong_inference', 'throws the last copy of a needed card away', 'LLM-Coordination formats section 3.1; games/coordination/hanabi/moves.py'),
        ('capture_move', 'closer', 'none', 'a step nearer to the thief', 'LLM-Coordination formats section 5.1; games/coordination/capture/moves.py'),
        ('capture_move', 'in_position', 'none', 'not nearer, and part of a fastest capture', 'values section 4; games/coordination/capture/moves.py'),
        ('capture_move', 'not_closer', 'no_progress', 'a move that leads no nearer', 'LLM-Coordination formats section 5.1; games/coordination/capture/moves.py'),
        ('capture_move', 'stay', 'no_progress', 'stays where it could have come closer', 'LLM-Coordination formats section 5.1; games/coordination/capture/moves.py'),
        ('capture_move', 'stay_no_way', 'none', 'stays, and no open way leads nearer', 'LLM-Coordination formats section 5.1; games/coordination/capture/moves.py'),
        ('capture_move', 'press_opens', 'none', 'opens a way to the thief', 'LLM-Coordination formats section 5.1; games/coordination/capture/moves.py'),
        ('capture_move', 'press_other', 'no_progress', 'presses a button that opens no way', 'LLM-Coordination formats section 5.1; games/coordination/capture/moves.py'),
        ('overcooked_macro', 'useful', 'none', 'nothing speaks against it', 'LLM-Coordination formats section 4.3; games/coordination/kitchen/macros.py'),
        ('overcooked_macro', 'idle', 'no_progress', 'waits although a soup could be moved on', 'LLM-Coordination formats section 4.3; games/coordination/kitchen/macros.py'),
        ('overcooked_macro', 'wait', 'none', 'waits, and nothing could be done at once', 'LLM-Coordination formats section 4.3; games/coordination/kitchen/macros.py'),
        ('overcooked_macro', 'aside', 'none', 'makes room', 'LLM-Coordination formats section 4.3; games/coordination/kitchen/macros.py'),
        ('overcooked_macro', 'full_cooker', 'infeasible_action', 'takes an onion to a full cooker', 'LLM-Coordination formats section 4.3; games/coordination/kitchen/macros.py'),
        ('overcooked_macro', 'too_early', 'no_progress', 'wants soup that is not ready', 'LLM-Coordination formats section 4.3; games/coordination/kitchen/macros.py'),
        ('overcooked_macro', 'surplus_onion', 'no_progress', 'takes an onion that no cooker has room for', 'LLM-Coordination formats section 4.3; games/coordination/kitchen/macros.py'),
        ('escape_move', 'repair', 'none', 'works on a generator', 'LLM-Coordination formats section 6.1; games/coordination/escape/moves.py'),
        ('escape_move', 'repair_fixed', 'no_progress', 'works on a generator that is fixed', 'LLM-Coordination formats section 6.1; games/coordination/escape/moves.py'),
        ('escape_move', 'exit', 'none', 'goes to the open gate', 'LLM-Coordination formats section 6.1; games/coordination/escape/moves.py'),
        ('escape_move', 'deadly', 'wrong_inference', 'ends where the killer is known to go', 'LLM-Coordination formats section 6.1; games/coordination/escape/moves.py'),
        ('escape_move', 'abandon', 'no_progress', 'lets a half repaired generator fall back', 'LLM-Coordination formats section 6.1; games/coordination/escape/moves.py'),
        ('escape_move', 'move', 'none', 'moves otherwise', 'LLM-Coordination formats section 6.1; games/coordination/escape/moves.py'),
        ('escape_move', 'wait', 'none', 'waits otherwise', 'LLM-Coordination formats section 6.1; games/coordination/escape/moves.py'),
        ('coordination_read', 'exact', 'none', 'the reply names one listed action', 'LLM-Coordination formats section 2, grounding'),
        ('coordination_read', 'asked_again', 'format', 'named no listed action at first', 'LLM-Coordination formats section 2, grounding'),
        ('coordination_read', 'guessed', 'harness', 'the harness took the most similar action', 'LLM-Coordination formats section 2, grounding'),
        ('coordination_read', 'random', 'format', 'names no listed action: one was drawn', 'LLM-Coordination formats section 2, grounding'),
        ('coordination_read', 'default', 'format', 'names no listed action: nothing was done', 'LLM-Coordination formats section 2, grounding'),
        ('coordination_grounding', 'as_intended', 'none', 'the harness did what was meant', 'LLM-Coordination formats section 2, grounding'),
        ('coordination_grounding', 'slip', 'harness', 'the harness did something else than was meant', 'LLM-Coordination formats section 2, grounding'),
        ('coordqa_answer', 'correct', 'none', 'the right option', 'LLM-Coordination, CoordinationQA'),
        ('coordqa_answer', 'wrong_option', 'wrong_inference', 'another option of the question', 'LLM-Coordination, CoordinationQA'),
        ('coordqa_answer', 'not_an_option', 'format', 'names no option of the question', 'LLM-Coordination formats, answer extraction'),
        ('coordqa_answer', 'no_answer', 'format', 'holds no answer', 'LLM-Coordination formats, answer extraction'),
        ('coordqa_answer', 'truncated', 'format', 'ends before the answer', 'LLM-Coordination formats, answer extraction'),
        ('coordqa_answer', 'refusal', 'unanswered_request', 'the model declines', 'LLM-Coordination formats, answer extraction')
) as lines (taxonomy, category, common, meaning, source);
