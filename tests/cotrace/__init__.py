"""Tests of cotrace."""
