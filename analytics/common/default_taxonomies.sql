-- default_taxonomies: which taxonomy of failures is shown where none is asked for: the published one, else the one that classifies most turns.
-- How replies were read (names that end in _read or _grounding) comes last: that is about the game program.
-- One row is a benchmark with classified turns.
--   benchmark  text  the benchmark
--   taxonomy  text  name of the taxonomy
-- Reads: failure_turns.
create or replace view default_taxonomies as

select benchmark, taxonomy
from failure_turns
group by benchmark, taxonomy
qualify
    row_number() over (
        partition by benchmark
        order by taxonomy like '%published' desc, regexp_matches(taxonomy, '_(read|grounding)$'), count(*) desc, taxonomy
    ) = 1;
