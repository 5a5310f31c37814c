"""Attacks on what reads logs and asks models: changed fields, damaged files, misbehaving servers, kills."""
