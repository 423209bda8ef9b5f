"""The files that the Hub validates when they are pushed, and the reasons why it refuses them.

By https://huggingface.co/docs/hub/eval-results and the list of frameworks in huggingface.js,
`packages/tasks/src/eval.ts`.
"""

import re

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

_NAMES = """
apex-evals archipelago claw-eval exgentic harbor inspect-ai math-arena mdpbench mteb nemo-evaluator
olmocr-bench open-asr-leaderboard parsebench screenspot-pro swe-bench swe-bench-pro video-mme-v2
wildclawbench yc-bench
"""
FRAMEWORKS = _NAMES.split()


class _Task(BaseModel):
    """What each task has; the framework may ask for more."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: str
    config: str = "default"
    split: str = "test"


class _Declaration(BaseModel):
    """What `eval.yaml` holds."""

    model_config = ConfigDict(strict=True)

    name: str
    description: str
    evaluation_framework: str
    tasks: list[_Task]

    @field_validator("evaluation_framework")
    @classmethod
    def _is_on_the_list(cls, name):
        if name not in FRAMEWORKS:
            raise ValueError(f"must be one of {', '.join(FRAMEWORKS)}")
        return name

    @field_validator("tasks")
    @classmethod
    def _are_told_apart(cls, tasks):
        if not tasks or len({task.id for task in tasks}) < len(tasks):
            raise ValueError("must be tasks with ids that are all different")
        return tasks


def refused(path, data):
    """Why the Hub refuses a file of a dataset repository; None where it takes it."""
    if path == "README.md":
        front = re.match(rb"---\n(.*?)\n---", data, re.DOTALL)
        return _yaml_error(front[1]) if front else None
    return _yaml_error(data) or _eval_error(yaml.safe_load(data)) if path == "eval.yaml" else None


def _yaml_error(data):
    try:
        value = yaml.safe_load(data)
    except yaml.YAMLError as error:
        return f"is not YAML: {error}"
    return None if isinstance(value, dict) else "is no YAML mapping"


def _eval_error(value):
    try:
        declaration = _Declaration.model_validate(value)
        if declaration.evaluation_framework == "inspect-ai":
            from inspect_ai._eval.task.hf import HFTask  # noqa: PLC0415  takes seconds

            for task in value["tasks"]:
                HFTask.model_validate(task)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None
