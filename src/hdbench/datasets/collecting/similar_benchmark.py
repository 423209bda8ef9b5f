"""Another benchmark, whose fields and rules a new one takes over."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdbench.benchmarks.names import full_name, recipe_names
from hdbench.benchmarks.spec import BenchmarkSpec, read_spec
from hdbench.common import resources
from hdbench.common.folder_files import file_in, text_in
from hdbench.common.jsonio import json_reason, parse_json
from hdbench.common.names import bare, did_you_mean
from hdbench.errors import HdbenchError


@dataclass(frozen=True)
class Like:
    """Another benchmark, whose fields and rules a collection takes over.

    Attributes:
        name: as it was given.
        spec: what it says about itself.
        schema: the form of its answers, as its file has it.
        prompt: its prompt; None if it is not at hand.
    """

    name: str
    spec: BenchmarkSpec
    schema: dict[str, Any]
    prompt: str | None


def find_like(name: str) -> Like:
    """The benchmark in a folder, or one that hdbench has.

    Raises:
        HdbenchError: there is none of that name, or it has no usable schema.
    """
    folder = Path(full_name(name))
    if not (folder / "benchmark.yaml").is_file():
        own, known = bare(name), recipe_names()
        if own not in known:
            raise HdbenchError(
                "--like {name}: neither a folder with a benchmark.yaml nor one of hdbench's "
                "benchmarks ({names}){near}",
                name=name,
                names=", ".join(known),
                near=did_you_mean(own, known),
            )
        folder = Path(str(resources.folder("dataset_scripts") / own))
    path = folder / "answer.schema.json"
    try:
        schema = parse_json(text_in(folder, path.name))
    except HdbenchError:
        raise
    except ValueError as error:
        raise HdbenchError(
            "{place}: not JSON: {why}", place=path, why=json_reason(error)
        ) from error
    if not isinstance(schema, dict):
        raise HdbenchError("{place}: must be an object in braces", place=path)
    text = text_in(folder, "prompt.txt") if (folder / "prompt.txt").exists() else None
    return Like(name, read_spec(file_in(folder, "benchmark.yaml")), schema, text)
