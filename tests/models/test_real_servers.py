"""The servers that people use, with models of random weights."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.backends import made
from helpers.waiting import until

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.models.backend import Decoding
from hdbench.models.items import of_benchmark
from hdbench.models.run import PROMPT, read_prompt
from hdbench.models.transformers_backend import TransformersBackend


@contextmanager
def started(log, *command, **environment):
    """A program in the background; gives the process and what it has written so far."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, *map(str, command)], stdout=file, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def wait_for(process, log, ready):
    def found():
        assert process.poll() is None, log.read_text()
        return ready(log.read_text())

    return until(found, "the server")


def address_in(text):
    return next((line for line in text.splitlines() if line.startswith("http://")), None)


@pytest.mark.nightly
def test_llama_cpp_without_vision_says_so_at_once(here, hdbench, tmp_path):
    log = tmp_path / "llama.log"
    with started(log, Path(__file__).with_name("llama_server.py"), tmp_path) as process:
        address = wait_for(process, log, address_in)
        run = ("run", "hdb/zettelkatalog", "--model", "tiny", "--endpoint", address)
        done = hdbench(*run, "-o", "runs/llama")
        assert (done.returncode, done.stdout) == (2, "")
        assert "3 items in a row without an answer" in done.stderr
        assert "image input is not supported" in done.stderr
        assert not (here / "runs/llama/answers.jsonl").exists()
        listed = hdbench(*run, "--dry-run")
        assert "model: tiny: not among the 1 models that the server lists" in listed.stdout


@pytest.mark.nightly
def test_transformers_serve_reads_the_images(here, hdbench, tiny_model, tmp_path):
    log = tmp_path / "serve.log"
    serve = "import sys; from transformers.cli.transformers import main; sys.exit(main())"
    command = ("-c", serve, "serve", "--host", "127.0.0.1", "--port", "0", tiny_model)
    with started(log, *command) as process:
        address = wait_for(process, log, uvicorns_address)
        done = hdbench(
            *("run", "hdb/zettelkatalog", "--model", tiny_model, "--endpoint", address),
            *("-o", "runs/served", "--option", "max_new_tokens=12", "--limit", "3"),
        )
    assert done.returncode == 0, done.stderr + log.read_text()
    lines = (here / "runs/served/answers.jsonl").read_text().splitlines()
    answers = [json.loads(line) for line in lines]
    assert [answer["tokens"]["output"] for answer in answers] == [12] * 3
    assert all(answer["finish_reason"] == "length" for answer in answers)
    decoding = Decoding(max_new_tokens=12)
    benchmark = load_benchmark(str(here / "hdb/zettelkatalog"))
    prompt = read_prompt(benchmark.folder / PROMPT)
    local = made(TransformersBackend, tiny_model, prompt.text, decoding=decoding)
    asked = of_benchmark(benchmark, limit=3).questions
    assert {answer["id"]: answer["text"] for answer in answers} == {
        item: reply.text for item, reply in local.answer(asked)
    }
    sitting = json.loads((here / "runs/served/run.json").read_text())["sittings"][0]
    assert sitting["hardware"]["address"] == f"{address}/v1"


def uvicorns_address(text):
    _, found, rest = text.partition("Uvicorn running on ")
    return rest.split()[0] if found else None
