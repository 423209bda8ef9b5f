"""`eval.yaml`: what makes a dataset repository a benchmark on the Hub."""

import yaml

from hdbench.benchmark import BenchmarkSpec
from hdbench.scoring.metric import PROTOCOLS

_RULES = {
    "documented": "as the benchmark describes it",
    "published": "as its published results were scored",
}


def eval_yaml(spec: BenchmarkSpec) -> str:
    """The Hub's declaration of a benchmark: a task for each protocol.

    Results of models name its tasks: `hdbench export --format eval-results` does so. It has none
    of the `field_spec`, `solvers` and `scorers` from which inspect-ai makes a task of its own: that
    shows no image column of `datasets`, and can score by its built-in scorers only, which would
    give another figure under this benchmark's name. Its task here is `hdbench.inspect_task`.

    Args:
        spec: the benchmark's.
    """
    rules = "; ".join(f"{name}: {_RULES[name]}" for name in PROTOCOLS)
    better = "higher is better" if spec.higher_is_better else "lower is better: results have 1 - it"
    declaration = {
        "name": spec.title,
        "description": f"{spec.title}, version {spec.version}, scored by hdbench's {spec.metric}: "
        f"{spec.headline} ({better}). {rules}. In inspect-ai: pip install "
        f"'hdbench[inspect]', then inspect eval hdbench/benchmark -T benchmark=<this dataset>.",
        "evaluation_framework": "inspect-ai",
        "tasks": [{"id": name, "config": "default", "split": spec.split} for name in PROTOCOLS],
    }
    return yaml.safe_dump(declaration, sort_keys=False, allow_unicode=True, width=100)
