"""Visitors without a browser, who do what the page does."""

import asyncio
import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx


def run(coroutine):
    """The result of a coroutine, in a thread of its own: Playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


class Visitor:
    """One visitor of a Space, from an address of their own."""

    def __init__(self, url, address="192.0.2.1", language="en"):
        headers = {"X-Forwarded-For": address, "Accept-Language": language}
        self.http = httpx.AsyncClient(base_url=url, headers=headers, timeout=1_800)
        self.session = uuid.uuid4().hex

    async def __aenter__(self):
        self.config = (await self.http.get("config")).json()
        return self

    async def __aexit__(self, *_):
        await self.http.aclose()

    async def upload(self, name, content):
        answer = await self.http.post("gradio_api/upload", files={"files": (name, content)})
        answer.raise_for_status()
        (path,) = answer.json()
        return {"path": path, "orig_name": name, "meta": {"_type": "gradio.FileData"}}

    async def call(self, endpoint, *data):
        """What an endpoint of the API answers: the last event's name, and its data."""
        posted = await self.http.post(f"gradio_api/call/{endpoint}", json={"data": data})
        posted.raise_for_status()
        event = posted.json()["event_id"]
        told = (await self.http.get(f"gradio_api/call/{endpoint}/{event}")).text
        *_, last = told.strip().split("\n\n")
        name, data = (line.partition(": ")[2] for line in last.splitlines())
        return name, json.loads(data)

    async def press(self, button, **values):
        """The messages that come of a button, with values for some of its fields."""
        return [message async for message in self.pressed(button, **values)]

    async def pressed(self, button, **values):
        """The same, one by one."""
        parts = {part["id"]: part["props"] for part in self.config["components"]}
        (found,) = (
            each
            for each in self.config["dependencies"]
            for target, event in each["targets"]
            if event == "click" and parts[target].get("elem_id") == button
        )
        fields = [parts[number] for number in found["inputs"]]
        data = [values.get(field.get("elem_id"), field.get("value")) for field in fields]
        asked = {"fn_index": found["id"], "session_hash": self.session, "data": data}
        posted = await self.http.post("gradio_api/queue/join", json=asked)
        posted.raise_for_status()
        stream = self.http.stream(
            "GET", "gradio_api/queue/data", params={"session_hash": self.session}
        )
        async with stream as told:
            async for line in told.aiter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])

    async def fetch(self, path):
        answer = await self.http.get(path)
        answer.raise_for_status()
        return answer.content


async def until_told(messages, *beginnings):
    """Take messages until a text of the progress bar begins so."""
    async for message in messages:
        for each in message.get("progress_data") or ():
            if each["desc"].startswith(beginnings):
                return
    raise AssertionError(beginnings)


def texts_of(messages):
    """All that stands in messages."""
    return json.dumps(messages)


def peak_memory(pid):
    """Bytes that a process has had in memory, at most."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError(pid)
