"""The Dash app: every page is a function of the store and the address."""

PACKAGE_OF = "cotrace"
