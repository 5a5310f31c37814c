"""The kitchen of Collab-Overcooked: layout, actions, time, orders and the references that cook them."""
