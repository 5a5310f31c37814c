"""A store on its way out: Parquet tables, Inspect logs, dataset folders, OpenTelemetry spans."""
