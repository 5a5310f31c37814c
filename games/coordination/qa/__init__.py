"""CoordinationQA: 66 scenarios with three questions each, how answers are read and scored, and what chance gives."""
