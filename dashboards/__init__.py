"""The Dash app: every page is a function of the store and the address."""

ROOM_OF = "cotrace"
