"""The address of an OpenAI-compatible server, and its key."""

import ipaddress
import os
import re
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import httpx2

from hdbench.errors import HdbenchError

COMPLETIONS = "/chat/completions"
MAX_PORT = 65535
OWN_KEY = "HDBENCH_API_KEY"
KEYS_OF_HOSTS = {"huggingface.co": "HF_TOKEN", "openai.com": "OPENAI_API_KEY"}
"""Host → the environment variable with its key, which is sent to no other host."""


class Server(NamedTuple):
    """Server that requests go to, with its key.

    Attributes:
        url: of chat completions, without user, password and fragment.
        user: name and password from the address, for basic authentication.
        key: a secret.
        variable: the environment variable that the key comes from.
        alternative: where requests go if there is nothing at `url`; None if the address that was
            given is complete.
    """

    url: str
    user: tuple[str, str] | None
    key: str | None
    variable: str | None
    alternative: str | None = None

    @classmethod
    def at(cls, address: str) -> "Server":
        """Return the server at an address, with the key that the environment has for it.

        Servers differ in whether there is a `/v1` at the end: an address with a path is taken as it
        is, and with `/v1` added only if nothing answers there; a bare host is tried the other way
        round.

        Raises:
            HdbenchError: it is not a web address, or the key is invalid.
        """
        try:
            # The parser of the library that sends requests, so that both see the same host.
            url = httpx2.URL(address.strip())
        except httpx2.InvalidURL:
            url = httpx2.URL("")
        web = url.scheme in ("http", "https") and (url.port or 0) <= MAX_PORT
        if not url.host or not web:
            raise HdbenchError("--endpoint: give an address such as http://localhost:8000/v1")
        path, _, query = url.raw_path.decode().partition("?")
        path = path.rstrip("/")
        if path.endswith(COMPLETIONS):
            paths = [path]
        elif re.search(r"/v\d+$", path):
            paths = [path + COMPLETIONS]
        else:
            paths = [path + COMPLETIONS, f"{path}/v1{COMPLETIONS}"]
            if not path:
                paths.reverse()
        urls = [urlunsplit((url.scheme, url.netloc.decode(), path, query, "")) for path in paths]
        variable = _variable(url.host.rstrip("."), secure=url.scheme == "https")
        key = os.environ[variable].strip() if variable else None
        if key and not re.fullmatch(r"[!-~]+", key):
            raise HdbenchError(
                "{variable}: is not a key: it has spaces or letters beyond ASCII", variable=variable
            )
        return cls(
            urls[0],
            (url.username, url.password) if url.userinfo else None,
            key,
            variable,
            urls[1] if len(urls) > 1 else None,
        )

    def elsewhere(self) -> "Server":
        """Return the same server, asked at the alternative address and no other."""
        return self._replace(url=self.alternative or self.url, alternative=None)

    @property
    def host(self) -> str:
        """Return the host that images go to, as people read it, with its port if it has one."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def is_local(self) -> bool:
        """Return whether it is this machine, by its name.

        Example:
            >>> [Server.at(f"http://{host}/v1").is_local for host in ("localhost", "[::1]:80", "h")]
            [True, True, False]
        """
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @property
    def shown(self) -> str:
        """Return the address as people read it: without the query, which may hold a secret."""
        return urlunsplit((*urlsplit(self.url)[:3], "", "")).removesuffix(COMPLETIONS)

    def __repr__(self) -> str:
        return f"Server({self.shown!r})"


def _variable(host: str, *, secure: bool) -> str | None:
    """Return the variable with the key for a host; a provider's key is only sent encrypted."""
    names = [OWN_KEY] + [
        name
        for domain, name in KEYS_OF_HOSTS.items()
        if secure and (host == domain or host.endswith(f".{domain}"))
    ]
    return next((name for name in names if os.environ.get(name, "").strip()), None)
