-- failure_map: which categories of the benchmarks' taxonomies are the same kind of failure; a table of data, each family has its part.
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
-- Reads: every family's failure_map.
create or replace view failure_map as

select *
from every_family('failure_map');
