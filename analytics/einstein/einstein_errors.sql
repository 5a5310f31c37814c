-- einstein_errors: how often each error category of the paper's Table 2 occurs, over both of its denominators.
-- One row is (scope, category). Scopes are the runs, and all games of one verifier and action mode together.
--   scope  text  `run:<name>`, or pooled
--   verifier  text  none, affordance_verifier, communication_verifier or reasoning_verifier; null for published logs without manifest,
--                   which are in no pool
--   action_mode  text  provide_seek, provide, seek or none; for mixed pairs both, joined by +
--   category  text  the category; no_error for steps of none
--   count  count  steps of the category; a step can have several
--   total_steps  count  steps of the scope
--   pct_of_total  percent  count / total_steps
--   relevant_action_type  text  the actions that the second rate is taken over; null for categories that concern every step
--   relevant_count  count  such actions, refused ones included; null where there is no second rate
--   pct_of_relevant  percent  count / relevant_count; null if that is 0, and where there is no second rate
-- Report: einstein-errors, ordered by scope, verifier, action_mode, count desc, category
-- Shows: action_mode, verifier, category, count, pct_of_total
-- Reads: einstein_game_facts.
create or replace view einstein_errors as

with categories (category, relevant_action_type) as (
    values
        ('format_following', null),
        ('object_not_in_source_bin', 'move'),
        ('source_bin_not_reachable', 'move'),
        ('dest_bin_not_reachable', 'move'),
        ('same_source_dest', 'move'),
        ('redundant_sharing', 'share'),
        ('no_share_after_seek', 'ask'),
        ('wrong_share_after_seek', 'share'),
        ('seek_known_object', 'ask'),
        ('wrong_rule', 'move'),
        ('wrong_guess', 'move'),
        ('no_error', null)
),

scopes as (
    select 'run:' || run as scope, run_id as key, * from einstein_game_facts
    union all by name
    select 'pooled' as scope, null as key, * from einstein_game_facts where verifier is not null
),

totals as (
    select
        scope,
        key,
        verifier,
        action_mode,
        sum(step_count)::bigint as total_steps,
        sum(n_move)::bigint as move,
        sum(n_share)::bigint as share,
        sum(n_ask)::bigint as ask,
        sum(format_following)::bigint as format_following,
        sum(object_not_in_source_bin)::bigint as object_not_in_source_bin,
        sum(source_bin_not_reachable)::bigint as source_bin_not_reachable,
        sum(dest_bin_not_reachable)::bigint as dest_bin_not_reachable,
        sum(same_source_dest)::bigint as same_source_dest,
        sum(redundant_sharing)::bigint as redundant_sharing,
        sum(no_share_after_seek)::bigint as no_share_after_seek,
        sum(wrong_share_after_seek)::bigint as wrong_share_after_seek,
        sum(seek_known_object)::bigint as seek_known_object,
        sum(wrong_rule)::bigint as wrong_rule,
        sum(wrong_guess)::bigint as wrong_guess,
        sum(no_error_steps)::bigint as no_error
    from scopes
    group by all
),

counted as (
    unpivot totals
    on format_following, object_not_in_source_bin, source_bin_not_reachable, dest_bin_not_reachable, same_source_dest, redundant_sharing,
        no_share_after_seek, wrong_share_after_seek, seek_known_object, wrong_rule, wrong_guess, no_error
    into name category value count
),

rated as (
    select
        *,
        case relevant_action_type when 'move' then move when 'share' then share when 'ask' then ask end as relevant_count
    from counted
    inner join categories using (category)
)

select
    scope,
    verifier,
    action_mode,
    category,
    count,
    total_steps,
    100 * count / nullif(total_steps, 0) as pct_of_total,
    relevant_action_type,
    relevant_count,
    100 * count / nullif(relevant_count, 0) as pct_of_relevant
from rated;
