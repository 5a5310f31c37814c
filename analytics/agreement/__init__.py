"""Agreement of judges with people, planted truth, the engine, one another and themselves."""
