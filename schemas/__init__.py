"""What the data is: the rows of the store, its DDL, and how a store is opened."""

ROOM_OF = "cotrace"
