"""`hdbench cite`: BibTeX, and a sentence for the methods section."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hdbench import YEAR, __version__
from hdbench.answers import READING
from hdbench.answers.subset import subset_in_words
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.benchmarks.names import full_name
from hdbench.benchmarks.spec import HubSource
from hdbench.common.translation import translated
from hdbench.errors import HdbenchError, Message, escaped, joined
from hdbench.results.files import given_options, read_results
from hdbench.results.result import Result
from hdbench.scoring import METRICS
from hdbench.scoring.metric import figure_of

SOFTWARE = """\
@software{{hdbench,
  title   = {{{{hdbench}}: Benchmarks of the Digital Humanities, Built, Loaded and Scored}},
  author  = {{{{The hdbench authors}}}},
{year}  version = {{{version}}},
  license = {{Apache-2.0}}
}}"""

_ADDRESSES = ("howpublished", "url", "doi")


def cite(path: Path | str, language: str = "en") -> str:
    """Return what to cite: the benchmark and hdbench as BibTeX, and a sentence for each run.

    Args:
        path: a result of `hdbench score --json`, with its benchmark where it was when scored; or
            the folder of a benchmark, or its name.
        language: the language of the sentences, one of `hdbench.common.texts.LANGUAGES`.

    Raises:
        HdbenchError: it is neither, or the benchmark is not there.
    """
    folder = full_name(str(path))
    if Path(folder).is_dir():
        benchmark = load_benchmark(folder)
        return _text(benchmark, [__version__], [_of_benchmark(benchmark)], language)
    results = list(read_results(path).values())
    names = list(dict.fromkeys(result.dataset.benchmark for result in results))
    if len(names) > 1 or not names[0]:
        raise HdbenchError(
            "{place}: benchmark: names none, or several: cite a benchmark's folder instead",
            place=path,
        )
    benchmark = load_benchmark(names[0])
    versions = dict.fromkeys(result.versions.hdbench for result in results)
    sentences = [methods_sentence(result, benchmark) for result in results]
    if any(result.model is None for result in results):
        sentences.append(
            Message(
                "% {place}: does not name the model: score its answers again with --name MODEL",
                place=path,
            )
        )
    return _text(benchmark, versions, sentences, language)


def _text(
    benchmark: Benchmark, versions: Iterable[str], sentences: Iterable[str], language: str
) -> str:
    entry = "\n".join(translated(line, language) for line in _entry(benchmark))
    software = [
        SOFTWARE.format(
            version=escaped(version),
            year=f"  year    = {{{YEAR}}},\n" if version == __version__ else "",
        )
        for version in versions
    ]
    # A line break in a model's name would start an entry of its own.
    translations = [escaped(translated(sentence, language)) for sentence in sentences]
    return "\n\n".join([entry, *software, *translations])


def _entry(benchmark: Benchmark) -> Iterator[str]:
    """Yield a benchmark's BibTeX, after a comment that says what it lacks."""
    name, citation = benchmark.spec.name, benchmark.spec.citation.strip()
    if not citation:
        yield Message("% {name}: its benchmark.yaml has no citation", name=name)
        return
    address = _address(benchmark)
    has_address = any(_has(citation, field) for field in _ADDRESSES)
    if address is not None and not has_address and citation.endswith("}"):
        fields = citation[:-1].rstrip().removesuffix(",")
        citation, has_address = f"{fields},\n  url = {{{address}}}\n}}", True
    lacking = [field for field in ("author", "year") if not _has(citation, field)]
    if not has_address:
        lacking.append("url")
    if lacking:
        yield Message(
            "% {name}: the citation in its benchmark.yaml lacks {fields}: complete it there",
            name=name,
            fields=", ".join(lacking),
        )
    yield citation


def _has(citation: str, field: str) -> bool:
    """Return whether a BibTeX entry has a field that is not empty."""
    value = rf"\b{field}\s*=\s*(?:[{{\"]\s*)*[^\s{{}}\",]"
    return re.search(value, citation, re.IGNORECASE) is not None


def _address(benchmark: Benchmark) -> str | None:
    """Return where a dataset is published, as far as it or its description says."""
    source = benchmark.spec.source
    if benchmark.revision is not None:
        return f"https://huggingface.co/datasets/{benchmark.id}"
    if isinstance(source, HubSource):
        return f"https://huggingface.co/datasets/{source.hub}"
    return None if source is None else source.url


def methods_sentence(result: Result, benchmark: Benchmark) -> Message:
    """Return how a result was computed, and its headline, in a sentence of plain text.

    Raises:
        HdbenchError: the benchmark's headline is not a figure of the result's metric.
    """
    headline = benchmark.spec.headline
    value = result.rates.get(headline)
    figure = figure_of(result.metric, headline)
    if figure is None or not figure.is_rate or value is None:
        raise HdbenchError(
            "{benchmark}: headline: {headline!r} is not a figure of {metric}: is the result "
            "for this benchmark?",
            benchmark=benchmark.id,
            headline=headline,
            metric=result.metric.name,
        )
    intervals = result.intervals
    scored = Message(
        "metric {metric} ({rules}), on {name} {version} ({count} items{subset}, sha256 {sha256}…), "
        "{answered} of {items} answered; {headline} {value:.3f} ({interval}{method}){estimated}.",
        metric=result.metric.name,
        rules=joined(list(_conditions(result))),
        name=benchmark.spec.name,
        version=result.dataset.dataset_version,
        count=len(result.ids),
        subset=joined(list(_subset(result)), ""),
        sha256=result.dataset.dataset_sha256[:12],
        answered=result.answered,
        items=len(result.ids),
        headline=headline,
        value=value,
        interval=intervals.describe(headline),
        method=_method(result) if headline in intervals.figures else "",
        estimated=Message(", {estimated}", estimated=result.estimated) if result.estimated else "",
    )
    hdbench = result.versions.hdbench
    if result.model is None:
        return Message("Scored with hdbench {hdbench}, {scored}", hdbench=hdbench, scored=scored)
    return Message(
        "{model} was scored with hdbench {hdbench}, {scored}",
        model=_model(result),
        hdbench=hdbench,
        scored=scored,
    )


def _model(result: Result) -> str | None:
    """Return the model's name with who ran it and when, as providers change what a name means."""
    about: list[str] = []
    if provider := result.run.provider:
        about.append(provider)
    if date := result.run.date:
        about.append(Message("asked on {date}", date=date))
    if not about:
        return result.model
    return Message("{model} ({about})", model=result.model, about=joined(about))


def _subset(result: Result) -> Iterator[str]:
    """Yield which of the items, and whether the model saw them."""
    if result.run.subset is not None:
        yield Message(" ({how})", how=subset_in_words(result.run.subset))
    if result.run.without_media:
        yield Message(", asked without media")


def _method(result: Result) -> Message:
    """Return how the interval was computed."""
    how = Message("delta method" if result.intervals.by_delta else "bootstrap")
    if result.weighed is not None:
        return Message(", {how} over items within strata", how=how)
    return Message(", {how} over items", how=how)


def _conditions(result: Result) -> Iterator[str]:
    """Yield the rules, the protocol, the threshold, and each option that was given."""
    metric = result.metric
    yield Message(
        "rules {rules}, reading {reading}", rules=metric.rules, reading=result.reading_version
    )
    yield Message("protocol {protocol}", protocol=metric.protocol)
    chosen = given_options(metric)
    for name, value in metric.options.items():
        if name in chosen or isinstance(value, float):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield name if value is True else f"{name} {text}"
    yield from result.reading.read_as.names


def _of_benchmark(benchmark: Benchmark) -> Message:
    spec = benchmark.spec
    items = sum(1 for _ in benchmark.items())
    return Message(
        "Scored with hdbench {hdbench}, metric {metric} (rules {rules}, reading {reading}), on "
        "{name} {version} ({items} items, sha256 {sha256}…).",
        hdbench=__version__,
        metric=spec.metric,
        rules=METRICS[spec.metric].rules,
        reading=READING,
        name=spec.name,
        version=spec.version,
        items=items,
        sha256=benchmark.content_hash()[:12],
    )
