"""Tests of work on a cluster; `make test-scale` runs them in an environment that has Ray."""
