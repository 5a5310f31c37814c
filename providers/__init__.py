"""How a language model is asked: clients, pacing, faults, prices."""

ROOM_OF = "cotrace"
