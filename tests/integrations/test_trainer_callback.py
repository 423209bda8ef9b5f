"""The callback that scores a model in training, in a real training of a tiny model."""

import doctest
import json
import shutil
import warnings
from pathlib import Path

import pytest
import torch
from helpers.pages import blocks
from PIL import Image
from transformers import (
    AutoModelForImageTextToText,
    AutoProcessor,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.integrations import trainer_callback
from hdbench.integrations.trainer_callback import ScoreCallback
from hdbench.running.backend import Asked, Decoding
from hdbench.running.choosing import of_benchmark
from hdbench.running.planning import RunPlan

pytestmark = pytest.mark.nightly

DOCS = Path(__file__).parents[2] / "docs"
SHORT = {"max_new_tokens": 24}


@pytest.fixture
def benchmark(sample, tmp_path):
    """The folder of a benchmark of eight cards."""
    return str(shutil.copytree(sample / "hdb/zettelkatalog", tmp_path / "hdb/zettelkatalog"))


class Recorder(TrainerCallback):
    """Keeps what else the trainer could see of the model after each step."""

    def __init__(self):
        self.modes, self.configs = [], []

    def on_step_end(self, args, state, control, model, **kwargs):
        self.modes.append({name: module.training for name, module in model.named_modules()})
        self.configs.append(model.generation_config.to_dict())


@pytest.fixture
def make_trainer(tiny_model, tmp_path):
    """Makes trainers of the tiny model, which learns to answer two cards."""
    processor = AutoProcessor.from_pretrained(tiny_model)

    def example(color, answer):
        inputs = processor(
            images=Image.new("RGB", (60, 90), color),
            text=f"user: <image>Read the card.\nassistant: {answer}",
            return_tensors="pt",
        )
        return {name: value[0] for name, value in inputs.items()} | {
            "labels": inputs["input_ids"][0].clone()
        }

    data = [example("red", '{"title": "Kunst"}'), example("blue", '{"title": "Köln"}')]

    def make(name="output", **options):
        model = AutoModelForImageTextToText.from_pretrained(tiny_model, dtype=torch.float32)
        for module in model.modules():
            if hasattr(module, "attention_dropout"):
                module.attention_dropout = 0.3  # only in training
        arguments = {
            "max_steps": 4,
            "per_device_train_batch_size": 1,
            "learning_rate": 0.01,
            "logging_steps": 2,
            "save_strategy": "no",
            "report_to": "none",
            "use_cpu": True,
            "disable_tqdm": True,
            "seed": 1,
        }
        return Trainer(
            model,
            TrainingArguments(str(tmp_path / name), **arguments | options),
            train_dataset=data,
            processing_class=processor,
        )

    return make


def logged(trainer, name):
    return {entry["step"]: entry[name] for entry in trainer.state.log_history if name in entry}


def texts(folder):
    lines = list(map(json.loads, (folder / "answers.jsonl").read_text().splitlines()))
    answers = {line["id"]: line["text"] for line in lines}
    assert len(answers) == len(lines)
    return answers


def asked_items(folder):
    return json.loads((folder / "run.json").read_text())["items"]


def change_rows(benchmark, change):
    """Change each row of a benchmark."""
    path = f"{benchmark}/metadata.jsonl"
    with open(path) as file:
        rows = [change(json.loads(line)) for line in file]
    with open(path, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def test_each_score_is_that_of_the_checkpoint_of_its_step(make_trainer, benchmark, tmp_path):
    trainer = make_trainer(save_strategy="steps", save_steps=2)
    trainer.model.generation_config.repetition_penalty = 3.0  # which no run applies
    trainer.add_callback(
        ScoreCallback(trainer, benchmark, every=2, items=3, keep=True, batch_size=2, **SHORT)
    )
    trainer.train()
    loaded = load_benchmark(benchmark)
    seen = []
    for step in (2, 4):
        kept = tmp_path / f"output/hdbench/zettelkatalog/step-{step}"
        asked = Asked(
            str(tmp_path / f"output/checkpoint-{step}"),
            "transformers",
            decoding=Decoding(**SHORT),
            batch_size=2,
        )
        plan = RunPlan(loaded, of_benchmark(loaded, ids=asked_items(kept)), asked)
        plan.run(tmp_path / f"run-{step}")  # as `hdbench run` does
        assert texts(kept) == texts(tmp_path / f"run-{step}")
        assert len(texts(kept)) == 3
        result = score(benchmark, tmp_path / f"run-{step}")
        assert logged(trainer, "hdbench/zettelkatalog/f1_micro")[step] == result.value
        answered = logged(trainer, "hdbench/zettelkatalog/answered")
        assert answered == {2: answered[2], 4: result.answered / 3}
        seen.append(texts(kept))
    assert seen[0] != seen[1]  # the model did change


def test_right_answers_are_logged_as_such(make_trainer, benchmark):
    trainer = make_trainer(max_steps=2)
    answer = {"publication": {"title": "Kunst"}}
    tokens = trainer.processing_class.tokenizer(json.dumps(answer), return_tensors="pt").input_ids
    trainer.model.generate = lambda input_ids, **_: torch.cat([input_ids, tokens], dim=1)
    truth = {"publication": {"title": "Kunst", "year": 1924}}
    change_rows(benchmark, lambda row: row | {"ground_truth": json.dumps(truth)})
    trainer.add_callback(ScoreCallback(trainer, benchmark, every=2, items=3))
    trainer.train()
    # One of one value is right, and one of two was found.
    assert logged(trainer, "hdbench/zettelkatalog/f1_micro") == {2: pytest.approx(2 / 3)}
    assert logged(trainer, "hdbench/zettelkatalog/answered") == {2: 1.0}


def test_the_sample_is_the_same_at_every_step(make_trainer, benchmark, tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        trainer = make_trainer(name, max_steps=2)
        callback = ScoreCallback(
            trainer, benchmark, every=1, items=3, seed=seed, keep=True, max_new_tokens=1
        )
        trainer.add_callback(callback)
        trainer.train()
    samples = {
        name: [
            asked_items(tmp_path / name / f"hdbench/zettelkatalog/step-{step}") for step in (1, 2)
        ]
        for name in "abc"
    }
    assert samples["a"][0] == samples["a"][1] == samples["b"][0]
    assert samples["c"][0] == samples["c"][1] != samples["a"][0]


def test_only_items_with_a_ground_truth_are_asked(make_trainer, benchmark, tmp_path):
    ids = list(load_benchmark(benchmark).ids())
    change_rows(
        benchmark, lambda row: row if row["id"] in ids[:2] else row | {"ground_truth": None}
    )
    trainer = make_trainer(max_steps=1)
    trainer.add_callback(
        ScoreCallback(trainer, benchmark, every=1, items=50, keep=True, max_new_tokens=1)
    )
    trainer.train()
    assert set(texts(tmp_path / "output/hdbench/zettelkatalog/step-1")) == set(ids[:2])
    change_rows(benchmark, lambda row: row | {"ground_truth": None})
    with pytest.raises(HdbenchError, match="no item has a ground truth"):
        ScoreCallback(trainer, benchmark)


def test_the_training_goes_on_as_without_it(make_trainer, benchmark):
    trained, recorded = [], []
    for with_scores in (False, True):
        trainer = make_trainer()
        frozen = trainer.model.model.vision_tower
        frozen.train = lambda *_, frozen=frozen: torch.nn.Module.train(frozen, False)
        recorder = Recorder()
        if with_scores:
            trainer.add_callback(ScoreCallback(trainer, benchmark, every=2, items=2, **SHORT))
        trainer.add_callback(recorder)
        trainer.train()
        trained.append(trainer)
        recorded.append(recorder)
    plain, scored = (trainer.model.state_dict() for trainer in trained)
    assert all(torch.equal(plain[name], scored[name]) for name in plain)
    assert recorded[0].modes == recorded[1].modes
    assert {mode for modes in recorded[1].modes for mode in modes.values()} == {True, False}
    assert recorded[0].configs == recorded[1].configs
    assert logged(trained[0], "loss") == logged(trained[1], "loss")
    assert list(logged(trained[1], "loss")) == [2, 4]
    assert list(logged(trained[1], "hdbench/zettelkatalog/f1_micro")) == [2, 4]
    assert trained[1].processing_class.tokenizer.padding_side == "right"


def test_an_item_without_an_answer_is_one_line(make_trainer, benchmark):
    files = load_benchmark(benchmark).media()
    missing, *others = files
    files[missing][0].unlink()
    trainer = make_trainer(max_steps=2)
    trainer.add_callback(ScoreCallback(trainer, benchmark, every=2, items=8, **SHORT))
    with pytest.warns(UserWarning, match="step 2: no answer to 1 of 8 items") as caught:
        trainer.train()
    lines = [str(each.message) for each in caught if "no answer" in str(each.message)]
    assert len(lines) == 1
    assert missing in lines[0]
    assert "\n" not in lines[0]
    assert logged(trainer, "hdbench/zettelkatalog/answered")[2] <= 7 / 8

    for item in others:
        files[item][0].unlink()
    trainer = make_trainer(max_steps=2)
    trainer.add_callback(ScoreCallback(trainer, benchmark, every=2, items=8, **SHORT))
    with pytest.warns(UserWarning, match="step 2: no answer to 8 of 8 items"):
        trainer.train()
    assert trainer.state.global_step == 2
    assert logged(trainer, "hdbench/zettelkatalog/f1_micro") == {}
    assert list(logged(trainer, "loss")) == [2]


def test_a_model_that_fails_does_not_end_its_training(make_trainer, benchmark):
    trainer = make_trainer(max_steps=2)

    def fail(*_arguments, **_options):
        raise RuntimeError("no kernel")

    trainer.model.generate = fail
    recorder = Recorder()
    trainer.add_callback(ScoreCallback(trainer, benchmark, every=1, items=2))
    trainer.add_callback(recorder)
    with pytest.warns(UserWarning, match="no kernel") as caught:
        trainer.train()
    assert len(caught) == 2  # one at each step
    assert trainer.state.global_step == 2
    assert all(all(modes.values()) for modes in recorder.modes)


def test_the_settings_of_warnings_are_as_before(make_trainer, benchmark):
    trainer = make_trainer(max_steps=1)
    generate = trainer.model.generate

    def change_and_generate(**options):
        warnings.simplefilter("ignore")  # as threads do that read images at the same time
        return generate(**options)

    trainer.model.generate = change_and_generate
    trainer.add_callback(ScoreCallback(trainer, benchmark, every=1, items=1, max_new_tokens=1))
    before = list(warnings.filters)
    trainer.train()
    assert list(warnings.filters) == before


def test_answers_of_a_repeated_training_are_replaced(make_trainer, benchmark, tmp_path):
    kept = tmp_path / "output/hdbench/zettelkatalog/step-2"
    for rate in (0.01, 0.02):
        trainer = make_trainer(max_steps=2, learning_rate=rate)
        trainer.add_callback(
            ScoreCallback(trainer, benchmark, every=2, items=2, keep=True, **SHORT)
        )
        trainer.train()
        shutil.copytree(kept, tmp_path / str(rate))
    assert texts(tmp_path / "0.01").keys() == texts(tmp_path / "0.02").keys()
    assert texts(tmp_path / "0.01") != texts(tmp_path / "0.02")


def test_what_cannot_be_asked_is_refused_at_the_beginning(make_trainer, benchmark):
    trainer = make_trainer()
    tokenizer = trainer.processing_class.tokenizer
    trainer.add_callback(ScoreCallback(trainer, benchmark, tokenizer))
    with pytest.raises(HdbenchError, match="not a model that takes images and text"):
        trainer.train()
    trainer = make_trainer()
    trainer.add_callback(ScoreCallback(trainer, benchmark))
    trainer.is_fsdp_enabled = True
    with pytest.raises(HdbenchError, match="spread over several processes"):
        trainer.callback_handler.on_train_begin(trainer.args, trainer.state, trainer.control)
    with pytest.raises(HdbenchError, match="every: must be 1 or more, not 0"):
        ScoreCallback(trainer, benchmark, every=0)


def test_the_page_shows_how_it_is_used(make_trainer, benchmark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = next(block.text for block in blocks(DOCS / "training.md") if block.language == "python")
    prepared = make_trainer(max_steps=1)
    names = {
        "Trainer": Trainer,
        "model": prepared.model,
        "arguments": prepared.args,
        "pages": prepared.train_dataset,
        "processor": prepared.processing_class,
    }
    exec(page.replace("every=500", "every=1, max_new_tokens=1"), names)
    assert list(logged(names["trainer"], "hdbench/zettelkatalog/f1_micro")) == [1]
    assert len(texts(tmp_path / "output/hdbench/zettelkatalog/step-1")) == 8


def test_the_example_of_its_docstring_runs(make_trainer, sample, monkeypatch):
    monkeypatch.chdir(sample)
    trainer = make_trainer()
    names = vars(trainer_callback) | {"trainer": trainer}
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for example in finder.find(ScoreCallback, "ScoreCallback", globs=names):
        runner.run(example)
    assert runner.summarize() == (0, 1)
    assert isinstance(trainer.callback_handler.callbacks[-1], ScoreCallback)
