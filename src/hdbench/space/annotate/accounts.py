"""The accounts of annotators: their file, and the check of a password."""

import hashlib
import hmac
import os
import re
import secrets
import stat
from asyncio import Lock
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from hdbench.annotating.changes import check_pseudonym, is_pseudonym
from hdbench.common.checked import read_text_file
from hdbench.common.jsonio import whole_file
from hdbench.errors import HdbenchError
from hdbench.space.server.limits import WindowCounter, visitor

MAX_TRIES = 10
"""Maximum wrong passwords from one address in `WINDOW`."""

WINDOW = 600.0
"""Seconds in which wrong passwords are counted."""

MAX_CREDENTIALS = 400
"""Maximum characters of a name and password, as a browser sends them."""

_LOG2_COST = 15
_ENTRY = re.compile(rf"([^:]+):scrypt-{_LOG2_COST}-8-1:([0-9a-f]{{32}}):([0-9a-f]{{64}})")
_PASSWORD_BYTES = 15  # 20 characters, too many to guess


class Secret(NamedTuple):
    """The salt and key that are stored for a password."""

    salt: bytes
    key: bytes


class TooManyTriesError(Exception):
    """Too many wrong passwords came from this address."""


class Login:
    """Identifies the account of a request by HTTP Basic authentication.

    Args:
        accounts: account → the stored secret for its password.
    """

    def __init__(self, accounts: Mapping[str, Secret]) -> None:
        self._accounts = accounts
        # Checking a password takes 0.1 s, on purpose, and a browser sends it with each request.
        self._digests: dict[str, bytes] = {}
        self._pepper = secrets.token_bytes(32)
        self._nobody = _secret_of(secrets.token_bytes(16))
        self._checking = Lock()
        self._tries = WindowCounter(WINDOW)

    async def account(self, request: Request) -> str | None:
        """Return the account of a request; None if it has no password, or a wrong one.

        Raises:
            TooManyTriesError: also for the right password, if it was not given before.
        """
        name, password = _credentials(request.headers.get("authorization", ""))
        if not password:
            return None
        digest = hmac.digest(self._pepper, password, "sha256")
        if hmac.compare_digest(self._digests.get(name, b""), digest):
            return name
        async with self._checking:  # one at a time: each takes 32 MiB
            address = visitor(request.scope)
            if self._tries.add(address) > MAX_TRIES:
                raise TooManyTriesError
            # The check takes as long for an account that does not exist.
            secret = self._accounts.get(name, self._nobody)
            key = await run_in_threadpool(_key, password, secret.salt)
            if not hmac.compare_digest(key, secret.key) or name not in self._accounts:
                return None
            self._tries.add(address, -1)
        self._digests[name] = digest
        return name


def read_accounts(path: Path) -> dict[str, Secret]:
    """Return the accounts in a file: a line for each, as `add_account` writes it.

    Raises:
        HdbenchError: it has none, others on this machine may read or change it, or a line is
            invalid; its content is not repeated.
    """
    text = read_text_file(path)
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXO | stat.S_IWGRP):
        raise HdbenchError("{place}: others may read or change it: chmod 600 {place}", place=path)
    accounts: dict[str, Secret] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        entry = _ENTRY.fullmatch(line.strip())
        if entry is None or not is_pseudonym(entry[1]):
            raise HdbenchError(
                "{place}:{number}: not an account: plain passwords are not taken; hdbench "
                "space-account makes such a line",
                place=path,
                number=number,
            )
        if entry[1] in accounts:
            raise HdbenchError(
                "{place}:{number}: there is another line for {name}",
                place=path,
                number=number,
                name=entry[1],
            )
        accounts[entry[1]] = Secret(bytes.fromhex(entry[2]), bytes.fromhex(entry[3]))
    if not accounts:
        raise HdbenchError("{place}: has no accounts: hdbench space-account makes one", place=path)
    return accounts


def add_account(path: Path, name: str) -> str:
    """Write an account into a file, with a new password; an earlier one no longer counts.

    Args:
        path: the file, which only its owner may read; created if it does not exist.
        name: the pseudonym.

    Returns:
        The password, which is not stored anywhere.

    Raises:
        HdbenchError: the name is not a pseudonym, or the file unusable.
    """
    check_pseudonym(name)
    accounts = read_accounts(path) if path.is_file() and path.stat().st_size else {}
    password = secrets.token_urlsafe(_PASSWORD_BYTES)
    accounts[name] = _secret_of(password.encode())
    lines = [
        f"{account}:scrypt-{_LOG2_COST}-8-1:{secret.salt.hex()}:{secret.key.hex()}\n"
        for account, secret in accounts.items()
    ]
    with whole_file(path) as beside:
        beside.touch(mode=0o600)
        beside.write_text("".join(lines), encoding="utf-8")
    return password


def _secret_of(password: bytes) -> Secret:
    salt = secrets.token_bytes(16)
    return Secret(salt, _key(password, salt))


def _key(password: bytes, salt: bytes) -> bytes:
    cost = 1 << _LOG2_COST
    return hashlib.scrypt(password, salt=salt, n=cost, r=8, p=1, maxmem=64 * 2**20, dklen=32)


def _credentials(header: str) -> tuple[str, bytes]:
    """Return the name and password in an Authorization header; both empty if it has none."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() == "basic" and len(encoded) <= MAX_CREDENTIALS:
        try:
            name, _, password = b64decode(encoded.strip(), validate=True).partition(b":")
            return name.decode(), password
        except ValueError:
            pass
    return "", b""
