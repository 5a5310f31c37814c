"""Where a model is spoken to from: this process, or the nodes of the cluster in use."""

from __future__ import annotations

from providers.endpoints.endpoint import Endpoint, connect_here
from providers.provider import ModelSettings
from schemas.cluster import is_used

__all__ = ["connect_to"]


def connect_to(settings: ModelSettings) -> Endpoint:
    """The endpoint of a model, spoken to from here, or from the nodes of the cluster in use.

    Raises:
        UsageError: the model's name is incomplete, its key is missing, or a package that its provider needs is not installed.
    """
    if is_used():
        from providers.endpoints.cluster import ClusterEndpoint

        return ClusterEndpoint(settings)
    return connect_here(settings)
