"""Requests that no browser makes, sent to a real server byte by byte."""

import json
import socket
from urllib.parse import urlsplit

DIGITS = "9" * 5_000
LONG = "a" * 7_000

HEADERS = {
    "Origin": ["http://[", "http://[::1", "null", "http://a:b:c", "\xff", LONG, "http://é", "//"],
    "Host": ["[", "", "a:b", "[::1", "\xff", "127.0.0.1:99999999", "127.0.0.1:x", "a/b", LONG],
    "Referer": ["http://[", "?lang=de&" * 500, "http://a]/?lang", "\xff"],
    "Cookie": ["=", "a" * 5_000, ";;;=;", "\xff=\xfe"],
    "Content-Length": ["-1", "1e3", DIGITS, "0x10", "1, 2", "\xb2", " ", "99999999999999999999"],
    "Content-Type": ["", "application/json; charset=utf-16", "multipart/form-data", "\xff", "/"],
    "Range": ["bytes=-", "bytes=9-1", f"bytes={DIGITS}-", "bytes=0-0," * 500, "\xff", "x=1"],
    "If-Range": ["\xff", '"'],
    "If-Modified-Since": ["\xff", "Mon, 99 Jan 99999 00:00:00 GMT", "0"],
    "If-None-Match": ["\xff", "*", '"' * 99],
    "Accept-Language": ["de;q=x", "," * 5_000, "\xff", "a" * 5_000],
    "Accept-Encoding": ["gzip;q=x", "\xff"],
    "Authorization": ["Basic", "Basic \xff", "Basic ====", "Bearer " + "x" * 5_000, "Basic gA=="],
    "X-Forwarded-Host": ["[", "\xff"],
    "X-Forwarded-For": ["[", "1.2.3.4.5", "\xff"],
    "X-Forwarded-Proto": ["https, http", "\xff", ""],
    "Sec-Fetch-Site": ["", "\xff", "none"],
    "Transfer-Encoding": ["chunked, chunked", "gzip", "\xff"],
    "Connection": ["upgrade", "\xff"],
    "Upgrade": ["websocket"],
    "Expect": ["100-continue", "x"],
}
"""Header → values that it should not have."""

NUMBERS = [DIGITS, "-1", "+1", "1.5", "1e5", "%D9%A1", "", "%00", "NaN", "999999999", "0x0", " 1"]
"""What is not the number of an item."""

PATHS = [
    "/%00",
    "/%ff%fe",
    "/..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e/",
    f"/{LONG}",
    f"/{'a/' * 3_000}",
    "/%",
    "/?%",
    "//[",
    "/\\..\\",
    "/%ed%a0%80",
    "/\xff",
    "*",
    "http://[/",
    "",
]
"""Paths behind the server's own first part."""

QUERIES = ["%", "%ff", "=" * 5_000, "&" * 5_000, "a=1;b=2", "q=%00", "q=%ed%a0%80", "\xff", "q=[("]


def bodies(good):
    """JSON texts that are not what a request is to carry, made from one that is."""
    texts = [
        b"",
        b"{",
        b"\xff",
        b"null",
        b"[]",
        b"1",
        b'"x"',
        b"NaN",
        b"{}",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"[" * 99 + b"]" * 99,
        b'{"a":' + DIGITS.encode() + b"}",
        b'{"a":1e999}',
        b'{"a":1,"a":2}',
        json.dumps({f"k{number}": number for number in range(100_000)}).encode(),
        b"x" * (9 * 2**20),
    ]
    odd = [None, True, -1, 10**30, 1.5, "", "\ud800", "\x00\x1b[31m\u202e", [], [[]], {}, {"a": []}]
    odd += ["a" * 200_000, {f"k{number}": 1 for number in range(20_000)}, [None] * 20_000]
    for key in good:
        texts.append(json.dumps({name: good[name] for name in good if name != key}).encode())
        texts += [json.dumps(good | {key: value}).encode() for value in odd]
        for number in ("NaN", "1e999", "-Infinity", DIGITS, "1." + "0" * 5_000, "1E400"):
            texts.append(json.dumps(good | {key: "@"}).replace('"@"', number).encode())
        texts.append(json.dumps(good | {key: "@"}).replace('"@"', "[" * 70 + "]" * 70).encode())
    return texts


_LENGTH = {"Content-Length", "Transfer-Encoding", "Expect", "Upgrade", "Connection"}


class Client:
    """Who sends bytes to a server.

    Args:
        url: the server's address; its path comes before each of the given ones.
        headers: sent with each request, unless a request has its own.
    """

    def __init__(self, url, **headers):
        found = urlsplit(url)
        self._address = (found.hostname, found.port)
        self._base = found.path.rstrip("/")
        self._headers = {"Host": found.netloc, "Connection": "close", **headers}

    def ask(self, method, path, body=None, headers=(), *, base=None):
        """The status and the text of the answer; status 0 if the connection was closed instead."""
        headers = dict(headers)
        if body is not None:
            own = {"Content-Type": "application/json", "Content-Length": str(len(body))}
            headers = own | headers
        sent = self._headers | headers
        lines = [f"{method} {self._base if base is None else base}{path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in sent.items()]
        raw = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")
        with socket.create_connection(self._address, timeout=60) as connection:
            try:
                connection.sendall(raw)
                if not _LENGTH.isdisjoint(headers):  # otherwise it waits for what never comes
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it refuses what it has not read whole
            answer = b""
            try:
                while part := connection.recv(2**16):
                    answer += part
            except ConnectionError:
                pass
        head, _, text = answer.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1]) if head else 0
        return status, text.decode("utf-8", "replace")


def attacks(routes):
    """All requests for some routes: how, where, with which body and headers.

    Args:
        routes: method, path (with `{n}` where a number belongs) and the body that is expected.
    """
    for method, path, good in routes:
        body = None if good is None else json.dumps(good).encode()
        whole = path.replace("{n}", "0")
        for name, values in HEADERS.items():
            for value in values:
                yield method, whole, body, {name: value}
        for query in QUERIES:
            yield method, f"{whole}?{query}", body, {}
        if "{n}" in path:
            for number in NUMBERS:
                yield method, path.replace("{n}", number), body, {}
        for other in {"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "X"} - {method}:
            yield other, whole, body, {}
        if good is not None:
            for bad in bodies(good):
                yield method, whole, bad, {}
    for path in PATHS:
        yield "GET", path, None, {}
        yield "POST", path, b"{}", {}


def refused(client, routes, log):
    """What a server does not answer as it should: (request, status, text), and lines of its log.

    Every answer has a status below 500, one that refuses is one line, and the log says nothing.
    """
    wrong, tried = [], 0
    for method, path, body, headers in attacks(routes):
        status, text = client.ask(method, path, body, headers)
        tried += 1
        lines = text.strip().splitlines()
        is_page = text.lstrip().startswith("<")
        if status >= 500 or (status >= 400 and not is_page and len(lines) > 1):
            shown = (method, path[:80], (body or b"")[:80], {k: v[:40] for k, v in headers.items()})
            wrong.append((shown, status, text[:200]))
    return tried, wrong, log.read_text()
