"""How a language model is asked: clients, pacing, faults, prices."""

PACKAGE_OF = "cotrace"
