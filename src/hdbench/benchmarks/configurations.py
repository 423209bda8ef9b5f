"""The configurations of a metric: its protocols, and the benchmarks of which hdbench has recipes.

`evaluate.load("hdb/record_f1", "bibliography")` has the options of that benchmark, and
`bibliography-published` those of its published rules.
"""

from pathlib import Path
from typing import Any, NamedTuple

from hdbench.about import installed_folder
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import SCHEMA
from hdbench.benchmarks.names import DESCRIPTION, recipe_names
from hdbench.benchmarks.spec import DEFAULT, PUBLISHED_ENDING, BenchmarkSpec, read_spec
from hdbench.common.names import did_you_mean
from hdbench.errors import HdbenchError
from hdbench.scoring import make_metric
from hdbench.scoring.metric import PROTOCOLS, Metric, ProtocolName


class Configuration(NamedTuple):
    """Way of scoring answers that has a name in `evaluate.load`.

    Attributes:
        metric: the metric's name.
        protocol: the protocol.
        benchmark: the benchmark whose options the metric has; None if it has its own.
    """

    metric: str
    protocol: ProtocolName
    benchmark: BenchmarkSpec | None = None

    def make_metric(self, **options: Any) -> Metric:
        """Make the metric.

        Args:
            options: take precedence over the benchmark's.

        Raises:
            HdbenchError: there is no such option, or a value is out of range.
        """
        if self.benchmark is None:
            return make_metric(self.metric, self.protocol, **options)
        return self.benchmark.make_metric(self.protocol, **options)

    def answer_schema(self) -> AnswerSchema | None:
        """Return the form of an answer to the benchmark; None if no benchmark is named."""
        if self.benchmark is None:
            return None
        return AnswerSchema.load(_recipe(self.benchmark.name) / SCHEMA)


def configuration_of(metric: str, name: str) -> Configuration:
    """Return the configuration of a metric that has a name.

    Args:
        metric: the metric's name.
        name: `documented`, `published`, or the name of a benchmark, with `-published` for its
            published rules; `default` is `documented`.

    Raises:
        HdbenchError: there is none of that name, or the benchmark has another metric.

    Example:
        >>> configuration_of("record_f1", "bibliography-published").make_metric().options["leaves"]
        'truth'
    """
    for protocol in PROTOCOLS:
        if name == protocol or (name == DEFAULT and protocol == PROTOCOLS[0]):
            return Configuration(metric, protocol)
    benchmark = name.removesuffix(PUBLISHED_ENDING)
    if benchmark not in recipe_names():
        choices = configuration_names(metric)
        raise HdbenchError(
            "no configuration {name!r}: choose one of {choices}{near}",
            name=name,
            choices=", ".join(choices),
            near=did_you_mean(name, choices),
        )
    spec = read_spec(_recipe(benchmark) / DESCRIPTION)
    if spec.metric != metric:
        raise HdbenchError(
            "{name} is scored by {needed}, not by {metric}: load {needed} with it",
            name=benchmark,
            needed=spec.metric,
            metric=metric,
        )
    return Configuration(metric, PROTOCOLS[0] if benchmark == name else PROTOCOLS[1], spec)


def configuration_names(metric: str) -> list[str]:
    """Return the names of a metric's configurations.

    Example:
        >>> configuration_names("text_cer")[:4]
        ['documented', 'published', 'advertxml', 'advertxml-published']
    """
    names: list[str] = [*PROTOCOLS]
    for name in recipe_names():
        if read_spec(_recipe(name) / DESCRIPTION).metric == metric:
            names += [name, name + PUBLISHED_ENDING]
    return names


def _recipe(name: str) -> Path:
    return installed_folder("dataset_scripts") / name
