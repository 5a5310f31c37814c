"""MAST-Data: traces of multi-agent systems, with the failure modes that annotators found in each."""
