"""Tests of analytics, exports."""
