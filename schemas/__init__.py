"""What the data is: families, records, tables, games; `store` holds them and `common` has small helpers for every package."""

PACKAGE_OF = "cotrace"
