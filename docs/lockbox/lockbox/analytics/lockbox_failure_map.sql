-- lockbox_failure_map: the part of failure_map that is about Lockbox; a table of data, one line a category.
-- One row is (taxonomy, category).
create or replace view lockbox_failure_map as

select *
from (values
        ('lockbox_try', 'right', 'none', 'the lock opens', 'this package'),
        ('lockbox_try', 'wrong_digits', 'wrong_inference', 'a code that does not open the lock', 'this package')
) as lines (taxonomy, category, common, meaning, source);
