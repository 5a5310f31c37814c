"""The view files by name, as tests look them up."""

from __future__ import annotations

from analytics.views import VIEWS

VIEW_OF = {spec.name: spec for spec in VIEWS}
