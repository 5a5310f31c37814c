"""What a judge may see: games as typed objects, pieces of evidence, units, and prompts made from them."""
