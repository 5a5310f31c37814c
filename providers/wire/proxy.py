"""The proxy that the environment names for a server: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, and NO_PROXY for those that need none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.errors import UsageError
from schemas.secrets import use_secret

if TYPE_CHECKING:
    from yarl import URL

__all__ = ["proxy_of"]


def proxy_of(url: URL) -> str | None:
    """The address of the proxy; None if there is none.

    Raises:
        UsageError: it is none that can be used.
    """
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    named = getproxies()
    proxy = named.get(url.scheme) or named.get("all")
    if not proxy or any(proxy_bypass(name) for name in (url.host or "", f"{url.host}:{url.port}")):
        return None
    address = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
        use_secret(parts.password)
    except ValueError:
        usable = False
    if not usable:
        kind = address.partition("://")[0]
        raise UsageError(
            f"the environment names a proxy for {url.scheme} that cannot be used ({kind}://...): name one such as http://proxy:3128, "
            f"or add {url.host} to NO_PROXY"
        )
    return address
