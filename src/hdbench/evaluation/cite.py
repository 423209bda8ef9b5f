"""`hdbench cite`: BibTeX, and a sentence for the methods section."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from hdbench import __version__
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.benchmarks.names import full_name
from hdbench.errors import HdbenchError, escaped
from hdbench.reading import READ_AS, READING
from hdbench.results.files import given_options, read_results
from hdbench.results.result import Result
from hdbench.scoring import METRICS
from hdbench.scoring.metric import figure_of

SOFTWARE = """\
@software{{hdbench,
  title   = {{{{hdbench}}: Benchmarks of the Digital Humanities, Built, Loaded and Scored}},
  author  = {{{{The hdbench authors}}}},
  version = {{{version}}},
  license = {{Apache-2.0}}
}}"""


def cite(path: Path | str) -> str:
    """What to cite: the benchmark and hdbench as BibTeX, and a sentence for each run.

    Args:
        path: a result of `hdbench score --json`, with its benchmark where it was when scored; or
            the folder of a benchmark, or its name.

    Raises:
        HdbenchError: it is neither, or the benchmark is not there.
    """
    folder = full_name(str(path))
    if Path(folder).is_dir():
        benchmark = load_benchmark(folder)
        return _text(benchmark, [__version__], [_of_benchmark(benchmark)])
    results = list(read_results(path).values())
    names = list(dict.fromkeys(result.dataset.get("benchmark", "") for result in results))
    if len(names) > 1 or not names[0]:
        raise HdbenchError(
            "{place}: benchmark: names none, or several: cite a benchmark's folder instead",
            place=path,
        )
    benchmark = load_benchmark(names[0])
    versions = dict.fromkeys(result.versions["hdbench"] for result in results)
    return _text(benchmark, versions, [methods_sentence(each, benchmark) for each in results])


def _text(benchmark: Benchmark, versions: Iterable[str], sentences: Iterable[str]) -> str:
    citation = benchmark.spec.citation.strip()
    missing = f"% {benchmark.spec.name}: its benchmark.yaml has no citation"  # a comment in BibTeX
    software = [SOFTWARE.format(version=escaped(version)) for version in versions]
    # A line break in a model's name would start an entry of its own.
    return "\n\n".join([citation or missing, *software, *map(escaped, sentences)])


def methods_sentence(result: Result, benchmark: Benchmark) -> str:
    """How a result was computed, and its headline, in a sentence of plain text.

    Raises:
        HdbenchError: the benchmark's headline is not a figure of the result's metric.
    """
    figures = result.figures()
    headline = benchmark.spec.headline
    value = figures.get(headline)
    figure = figure_of(result.metric, headline)
    if figure is None or not figure.is_rate or value is None:
        raise HdbenchError(
            "{benchmark}: headline: {headline!r} is not a figure of {metric}: is the result "
            "for this benchmark?",
            benchmark=benchmark.id,
            headline=headline,
            metric=result.metric.name,
        )
    found = result.intervals
    how = "delta method" if found.by_delta else "bootstrap"
    method = "" if found.why else f", {how} over items"
    if not found.why and result.weighed is not None:
        method += " within strata"
    estimated = f", {result.estimated}" if result.estimated else ""
    subset = f" ({result.run['subset']})" if "subset" in result.run else ""
    if result.run.get("without_media"):
        subset += ", asked without media"
    rules = ", ".join(
        [
            f"rules {result.metric.rules}, reading {result.reading_version}",
            *_conditions(result),
        ]
    )
    scored = "Scored" if result.model is None else f"{result.model} was scored"
    return (
        f"{scored} with hdbench {result.versions['hdbench']}, metric {result.metric.name} "
        f"({rules}), on {benchmark.spec.name} {result.dataset['dataset_version']} "
        f"({len(result.ids)} items{subset}, sha256 {result.dataset['dataset_sha256'][:12]}…), "
        f"{figures['answered']} of {figures['items']} answered; {headline} {value:.3f} "
        f"({found.describe(headline)}{method}){estimated}."
    )


def _conditions(result: Result) -> Iterator[str]:
    """The protocol, the threshold, and each option that was given."""
    metric = result.metric
    yield f"protocol {metric.protocol}"
    given = given_options(metric)
    for name, value in metric.options.items():
        if name in given or isinstance(value, float):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield name if value is True else f"{name} {text}"
    yield from (name for name in READ_AS if result.reading.get(name))


def _of_benchmark(benchmark: Benchmark) -> str:
    spec = benchmark.spec
    items = sum(1 for _ in benchmark.items())
    return (
        f"Scored with hdbench {__version__}, metric {spec.metric} "
        f"(rules {METRICS[spec.metric].rules}, reading {READING}), on {spec.name} {spec.version} "
        f"({items} items, sha256 {benchmark.content_hash()[:12]}…)."
    )
