"""The score of a run while it runs."""

from collections import Counter

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.errors import Message
from hdbench.reading.answer import WrittenAnswer
from hdbench.reading.schema import AnswerSchema
from hdbench.reading.text import read_text
from hdbench.results.items import ScoreCollector, prepare


class RunningScore:
    """The headline over the answers so far; the figure that counts comes from `hdbench score`.

    Args:
        benchmark: the benchmark being answered.
        schema: the form of its answers.
    """

    def __init__(self, benchmark: Benchmark, schema: AnswerSchema | None) -> None:
        self._metric = benchmark.spec.make_metric()
        self._headline = benchmark.spec.headline
        self._schema = schema
        self._truths = {item.id: item.ground_truth for item in benchmark.items()}
        self._tally = ScoreCollector(self._metric)
        self._totals: Counter[str] = Counter(dict.fromkeys(self._metric.statistics, 0))

    def add(self, answer: WrittenAnswer) -> None:
        """One more answer; to an item without a ground truth it changes nothing."""
        item_id = answer["id"]
        if item_id not in self._truths:
            return
        prepared = prepare(self._metric, self._truths[item_id], item_id)
        read = read_text(answer.get("text") or "", self._schema)
        scored = self._tally.add(read._replace(id=item_id), prepared)
        if scored is not None:
            self._totals.update(scored.score.statistics)
            self._totals["items"] += 1

    def shown(self) -> Message | None:
        """The headline with its name; None before any answer."""
        if not self._totals["items"]:
            return None
        value = self._metric.rates(self._totals)[self._headline]
        return Message("{headline} {value:.3f}", headline=self._headline, value=value)
