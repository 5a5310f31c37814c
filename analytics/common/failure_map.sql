-- failure_map: which categories of the benchmarks' taxonomies are the same kind of failure; a table of data, each family has its part.
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
--   common_before  text  the name that `common` had until version 0.1 (limited_search, inefficient_inference, flawed_pragmatics), for queries
--                        written with it; these are CRAFT's names of other failures, so the column goes with version 0.2
-- Reads: every family's failure_map.
create or replace view failure_map as

-- a family from another package may still use the former names
select
    taxonomy,
    category,
    case common
        when 'limited_search' then 'no_progress'
        when 'inefficient_inference' then 'wrong_inference'
        when 'flawed_pragmatics' then 'unhelpful_message'
        else common
    end as common,
    meaning,
    source,
    case common
        when 'no_progress' then 'limited_search'
        when 'unsupported_guess' then case category when 'misplay' then 'inefficient_inference' else 'limited_search' end
        when 'wrong_inference' then 'inefficient_inference'
        when 'unhelpful_message' then 'flawed_pragmatics'
        else common
    end as common_before
from every_family('failure_map');
