"""Visitors without a browser, who send the forms of the pages and look until work is done."""

import re
import time
from html import unescape

import httpx


def brought(url, form="score", files=(), **fields):
    """The address to which a form leads, with files of these names and contents."""
    sent = [("file", (name, content)) for name, content in files] or [("none", ("", ""))]
    answer = httpx.post(f"{url}{form}", data=fields, files=sent, timeout=120)
    if answer.status_code != 303:
        return answer
    return httpx.URL(url).join(answer.headers["location"])


def is_going(page):
    return "data-going" in page


def looked(address, language="en", seconds=120):
    """The page at an address, when its work is done."""
    end = time.monotonic() + seconds
    headers = {"accept-language": language}
    while is_going(page := httpx.get(address, headers=headers, timeout=60).text):
        assert time.monotonic() < end, page
        time.sleep(0.2)
    return page


def scored(url, name, content, benchmark="zettelkatalog", **fields):
    """The page of a file's result, when it is done."""
    return looked(brought(url, "score", [(name, content)], benchmark=benchmark, **fields))


def problem_of(page):
    """The reason why there is no result, in one line."""
    [found] = re.findall(r'<(div|p) class="hdb-problem"[^>]*>(.*?)</\1>', page, re.DOTALL)
    told = unescape(re.sub("<[^>]+>", "", found[1]))
    assert "\n" not in told.strip()
    return told
