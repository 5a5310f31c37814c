-- overcooked_statistics: what the published summary script gives for each folder of logs: means over the games of an order.
-- One row is (policy, order), over games as logged.
--   model  text  the policy of overcooked_games
--   order  text  what is cooked
--   success_rate  0..1  share of games whose order was delivered, however late
--   time_avg  steps  mean index of the last step of those; 0 if there is none
--   time_var  steps  their standard deviation (population), whatever the name says; 0 if there is none
--   mean_f1_agent_0  0..1  mean tes of the Chef
--   mean_similarity_agent_0  0..1  mean similarity
--   mean_redundancy_agent_0  0..1  mean of what the code calls redundancy
--   std_f1_agent_0  number  standard deviation (population) of the tes
--   std_similarity_agent_0  number  of the similarity
--   std_redundancy_agent_0  number  of what the code calls redundancy
--   mean_f1_agent_1  0..1  the same six of the Assistant
--   mean_similarity_agent_1  0..1  mean similarity
--   mean_redundancy_agent_1  0..1  mean of what the code calls redundancy
--   std_f1_agent_1  number  standard deviation (population) of the tes
--   std_similarity_agent_1  number  of the similarity
--   std_redundancy_agent_1  number  of what the code calls redundancy
--   initiate_collaboration  0..1  mean of the paper's, as in overcooked_games
--   respond_collaboration  0..1  mean of the paper's, as in overcooked_games
--   initiate_collaboration_upstream  0..1  the script's: right initiations over conversations, pooled; 0 without any
--   respond_collaboration_upstream  0..1  the script's: right answers over conversations, pooled; 0 without any
--   overall_collaboration  number  always null: the script never fills it
-- Reads: overcooked_games.
create or replace view overcooked_statistics as

select
    policy as model,
    "order",
    avg(success) as success_rate,
    coalesce(avg(last_timestamp) filter (success = 1), 0) as time_avg,
    coalesce(stddev_pop(last_timestamp) filter (success = 1), 0) as time_var,
    avg(tes_agent_0) as mean_f1_agent_0,
    avg(similarity_agent_0) as mean_similarity_agent_0,
    avg(redundancy_agent_0) as mean_redundancy_agent_0,
    stddev_pop(tes_agent_0) as std_f1_agent_0,
    stddev_pop(similarity_agent_0) as std_similarity_agent_0,
    stddev_pop(redundancy_agent_0) as std_redundancy_agent_0,
    avg(tes_agent_1) as mean_f1_agent_1,
    avg(similarity_agent_1) as mean_similarity_agent_1,
    avg(redundancy_agent_1) as mean_redundancy_agent_1,
    stddev_pop(tes_agent_1) as std_f1_agent_1,
    stddev_pop(similarity_agent_1) as std_similarity_agent_1,
    stddev_pop(redundancy_agent_1) as std_redundancy_agent_1,
    avg(initiate_collaboration) as initiate_collaboration,
    avg(respond_collaboration) as respond_collaboration,
    coalesce(sum(n_initiate_ok) / nullif(sum(n_communications), 0), 0) as initiate_collaboration_upstream,
    coalesce(sum(n_respond_ok) / nullif(sum(n_communications), 0), 0) as respond_collaboration_upstream,
    null::double as overall_collaboration
from overcooked_games
where variant = 'raw'
group by policy, "order";
