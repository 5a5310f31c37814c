"""Items to clauses: predicates, and the groups of block and place around them."""
