"""Tests of analytics, asympuzl."""
