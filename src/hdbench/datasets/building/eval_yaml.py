"""`eval.yaml`: what makes a dataset repository a benchmark on the Hub."""

import yaml

from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.scoring.metric import PROTOCOLS

_RULES = {
    "documented": "as the benchmark describes it",
    "published": "as its published results were scored",
}


def eval_yaml(spec: BenchmarkSpec) -> str:
    """The Hub's declaration of a benchmark: a task for each protocol.

    Model results name its tasks, as those of `hdbench export --format eval-results` do. It names
    no `evaluation_framework`: the Hub accepts only those on its own list
    (`packages/tasks/src/eval.ts` of huggingface.js), which does not have hdbench, and does not
    need one. `inspect-ai` is on it, but requires scorers for each task, and only inspect-ai's
    built-in ones are allowed: they would give a different figure under this benchmark's name. The
    benchmark's task for inspect-ai is in `hdbench.integrations.inspect_task`.

    Args:
        spec: the benchmark's specification.
    """
    rules = "; ".join(f"{name}: {_RULES[name]}" for name in PROTOCOLS)
    better = (
        "higher is better" if spec.higher_is_better else "lower is better: results hold 1 minus it"
    )
    declaration = {
        "name": spec.title,
        "description": f"{spec.title}, version {spec.version}, scored by hdbench's own "
        f"{spec.metric}: {spec.headline} ({better}). {rules}. In inspect-ai: pip install "
        f"'hdbench[inspect]', then inspect eval hdbench/benchmark -T benchmark=<this dataset>.",
        "tasks": [{"id": name, "config": "default", "split": spec.split} for name in PROTOCOLS],
    }
    return yaml.safe_dump(declaration, sort_keys=False, allow_unicode=True, width=100)
