"""Lockbox: two agents open a lock of which each knows half the code. A family of games for cotrace, in a distribution of its own."""

from schemas.families import Family

__all__ = ["FAMILY"]

FAMILY = Family(
    name="lockbox",
    title="Lockbox",
    score="digits_right",
    score_unit="0..1",
    roles=("keeper", "opener"),
    plays={"lockbox": "Two agents open a lock of which each knows half the code."},
    package=__name__,
)
