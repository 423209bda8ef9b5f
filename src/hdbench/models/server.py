"""The address of an OpenAI-compatible server, and its key."""

import ipaddress
import os
import re
from typing import NamedTuple
from urllib.parse import urlsplit

from hdbench.errors import HdbenchError

COMPLETIONS = "/chat/completions"
OWN_KEY = "HDBENCH_API_KEY"


MAKERS = {
    "OPENAI_API_KEY": "https://api.openai.com/v1",
    "ANTHROPIC_API_KEY": "https://api.anthropic.com/v1",
    "GEMINI_API_KEY": "https://generativelanguage.googleapis.com/v1beta/openai",
    "MISTRAL_API_KEY": "https://api.mistral.ai/v1",
    "OPENROUTER_API_KEY": "https://openrouter.ai/api/v1",
    "HF_TOKEN": "https://router.huggingface.co/v1",
}
"""Environment variable with the key of a company that serves models → what `--endpoint` takes.

A key goes to this host alone, and to those below it, such as eu.api.openai.com."""


class Server(NamedTuple):
    """Server that requests go to, with its key.

    Attributes:
        url: the address as it was typed, without query, user and password, and without the path of
            chat completions; a bare host is asked at `/v1`, where every such server answers.
        query: what follows a question mark in the address; it may hold a secret.
        user: name and password from the address, for basic authentication.
        key: a secret.
        variable: the environment variable that the key comes from.
    """

    url: str
    query: str
    user: tuple[str, str] | None
    key: str | None
    variable: str | None

    @classmethod
    def at(cls, address: str) -> "Server":
        """Return the server at an address, with the key that the environment has for it.

        Raises:
            HdbenchError: it is not a web address, or the key is invalid.
        """
        import httpx2  # noqa: PLC0415  slow to import

        try:
            # The parser of the library that sends requests, so that both see the same host.
            url = httpx2.URL(address.strip())
        except httpx2.InvalidURL:
            url = httpx2.URL("")
        if not url.host or url.scheme not in ("http", "https") or (url.port or 0) >= 1 << 16:
            raise HdbenchError("--endpoint: give an address such as http://localhost:8000/v1")
        path = url.raw_path.decode().partition("?")[0].rstrip("/").removesuffix(COMPLETIONS)
        variable = _variable(url.host.rstrip("."), secure=url.scheme == "https")
        key = os.environ[variable].strip() if variable else None
        if key and not re.fullmatch(r"[!-~]+", key):
            raise HdbenchError(
                "{variable}: is not a key: it has spaces or letters beyond ASCII", variable=variable
            )
        return cls(
            f"{url.scheme}://{url.netloc.decode()}{path or '/v1'}",
            url.query.decode(),
            (url.username, url.password) if url.userinfo else None,
            key,
            variable,
        )

    @property
    def host(self) -> str:
        """Return the host that images go to, as people read it, with its port if it has one."""
        return urlsplit(self.url).netloc

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

    def __repr__(self) -> str:
        return f"Server({self.url!r})"


def addresses_with_keys() -> list[str]:
    """Return the addresses of the makers whose keys are in the environment."""
    return [address for name, address in MAKERS.items() if os.environ.get(name, "").strip()]


def _variable(host: str, *, secure: bool) -> str | None:
    """Return the variable with the key for a host; a maker's key is only sent encrypted."""
    names = [OWN_KEY]
    for name, address in MAKERS.items():
        if secure and f".{host}".endswith(f".{urlsplit(address).netloc}"):
            names.append(name)
    return next((name for name in names if os.environ.get(name, "").strip()), None)
