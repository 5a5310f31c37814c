"""CoordinationQA: the published CSV and answer logs."""
