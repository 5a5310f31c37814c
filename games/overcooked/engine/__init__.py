"""The kitchen of Collab-Overcooked: layout, orders, actions, time."""
