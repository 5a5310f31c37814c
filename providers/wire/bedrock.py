"""How requests to Amazon Bedrock are signed (Signature Version 4), where there is no bearer token."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from schemas.errors import UsageError
from schemas.extras import needed
from schemas.secrets import use_secret

__all__ = ["address_in_region", "signer"]

_REGION: Final = "us-east-1"


def _region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or _REGION


def address_in_region() -> str:
    """Where Bedrock is in the region that the environment names."""
    return f"https://bedrock-runtime.{_region()}.amazonaws.com"


class signer:  # noqa: N801 - used as a function
    """Makes the headers of signed requests.

    Args:
        url: where the requests go.

    Raises:
        UsageError: botocore is not installed, or there are no credentials.
    """

    def __init__(self, url: str) -> None:
        needed("botocore", "bedrock/")
        from botocore.session import get_session

        self._url = url
        found = get_session().get_credentials()
        if found is None:
            raise UsageError(
                "bedrock/ needs credentials: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
            )
        for secret in found.get_frozen_credentials():
            use_secret(secret)
        self._credentials = found

    def __call__(self, body: bytes) -> Mapping[str, str]:
        """The headers of a request with that body."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        request = AWSRequest(method="POST", url=self._url, data=body, headers={"Content-Type": "application/json"})
        SigV4Auth(self._credentials, "bedrock", _region()).add_auth(request)
        return dict(request.headers.items())
