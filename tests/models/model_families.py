"""What the families of models can do, and the table of it in docs/reference/models.md.

Where torchvision is not installed,

    pip install --no-deps --target FOLDER torchvision==0.28.* timm num2words docopt
    PYTHONPATH=tests python -m models.model_families FOLDER

writes the table: its last column is found out here, the others by a second process that has the
folder on its path. `PYTHONPATH=FOLDER python -m pytest -m nightly tests/models/test_families.py`
runs the tests of the families with it.
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from helpers.backends import made
from helpers.tiny_models import FAMILIES, save_tiny_model
from helpers.vision import HAS_TORCHVISION
from PIL import Image
from transformers import AutoProcessor

from hdbench.answers.plain_text import plain_text
from hdbench.errors import HdbenchError
from hdbench.models.backend import Decoding, ImageLimits, Question
from hdbench.models.families import family_of
from hdbench.models.images import load_images
from hdbench.models.local_model import LocalModel
from hdbench.models.model_files import find_model
from hdbench.models.transformers_backend import TransformersBackend

DOCS = Path(__file__).parents[2] / "docs/reference/models.md"
BEGIN, END = "<!-- written by tests/models/model_families.py -->\n", "<!-- end of the table -->"
WITHOUT_TORCHVISION = "without torchvision"

PROMPT = "Read the card; answer with JSON."
SCHEMA = {
    "type": "object",
    "properties": {"kind": {"enum": ["card", "letter"]}, "pages": {"enum": [1, 2]}},
    "required": ["kind", "pages"],
    "additionalProperties": False,
}
TEXT_INPUTS = {"input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"}

GREEDY = Decoding(max_new_tokens=12)
SAMPLED = Decoding(max_new_tokens=64, temperature=2.0)
TO_SCHEMA = Decoding(max_new_tokens=300, temperature=2.0, schema=True)  # greedy may loop in spaces


def make_backend(folder, *, decoding=GREEDY, pages=5, **options):
    return made(
        *(TransformersBackend, folder, PROMPT),
        decoding=decoding,
        limits=ImageLimits(pages=pages),
        **{"schema": SCHEMA} | options,
    )


def questions(folder):
    """Four items of one, two, one and three images, of different sizes and patterns."""
    items = []
    random = np.random.default_rng(0)
    for number, images in enumerate((1, 2, 1, 3)):
        media = []
        for page in range(images):
            path = folder / f"{number}_{page}.png"
            if not path.exists():
                tiles = random.integers(0, 256, (4, 4, 3), dtype=np.uint8)
                size = (60 + 40 * number, 90 + 30 * page)
                image = Image.fromarray(tiles).resize(size, Image.Resampling.NEAREST)
                image.save(path)
            media.append(path)
        items.append(Question(f"item-{number}", media))
    return items


def replies(backend, asked):
    """The replies by id; none may be an error."""
    by_id = dict(backend.answer(asked))
    assert [reply.error for reply in by_id.values()] == [None] * len(asked)
    return by_id


def text_of(folder, media):
    """The answer to an item of these images.

    It is sampled, to differ sooner than the most likely one. The same id draws the same random
    numbers, so that nothing but the images makes a difference.
    """
    backend = make_backend(folder, decoding=SAMPLED)
    return replies(backend, [Question("item", media)])["item"].text


def page_of_text(folder, images):
    """Asked for the text of a page, it gets its family's own prompt, and what it writes is read."""
    backend = make_backend(folder, own_prompt=True)
    [first, *_] = questions(images)
    model, pages = backend._model, load_images(first.media, ImageLimits())
    given = model.encode([pages], [backend.prompt], SCHEMA)["input_ids"][0]
    own = PROMPT if model.family.prompt is None else model.family.prompt
    text = model.tokenizer.decode(given)
    assert own in text
    assert (PROMPT in text) == (own == PROMPT)
    if model.family.schema_as:
        assert json.dumps({"kind": ["card", "letter"], "pages": [1, 2]}, indent=4) in text
    plain_text(replies(backend, [first])[first.id].text)


def one_image(folder, images):
    """Another image has another answer."""
    one, _, other, _ = questions(images)
    assert text_of(folder, one.media) != text_of(folder, other.media)
    assert text_of(folder, one.media) == text_of(folder, one.media)


def several_pages(folder, images):
    """All pages are shown, in their order."""
    *_, three = questions(images)
    shown_pages = [three.media, three.media[:2], three.media[::-1]]
    assert len({text_of(folder, media) for media in shown_pages}) == 3


def batches(folder, images):
    """An item has the same answer in a batch and alone, and its own images reach it."""
    asked = questions(images)
    alone = replies(make_backend(folder), asked)
    for size in (2, 3):
        together = replies(make_backend(folder, batch_size=size), asked)
        assert {i: (r.text, r.tokens) for i, r in together.items()} == {
            i: (r.text, r.tokens) for i, r in alone.items()
        }
    assert_images_reach_their_items(folder, [load_images(q.media, ImageLimits()) for q in asked])


def assert_images_reach_their_items(folder, items):
    """Each item's pixel values are its own images', alone and in a batch of unequal items."""
    model = LocalModel(find_model(str(folder), None))
    each = [model.encode([item], [PROMPT], SCHEMA) for item in items]
    together = model.encode(items, [PROMPT] * len(items), SCHEMA)
    assert all(set(inputs) == set(together) for inputs in each)
    for name, batch in together.items():
        offset = 0
        for inputs in each:
            own = inputs[name]
            rows = batch[offset : offset + len(own)]
            offset += len(own)
            if name in TEXT_INPUTS:  # padded on the left
                assert torch.equal(rows[:, -own.shape[1] :], own), name
                continue
            if isinstance(own, list):
                assert rows == own, name
                continue
            # Padded on the right, as far as the largest item needs it.
            inside = tuple(slice(side) for side in own.shape)
            assert torch.equal(rows[inside], own), name
            padding = rows.clone()
            padding[inside] = 0
            assert name != "pixel_values" or not padding.any(), name
        assert offset == len(batch), name
    image_processor = AutoProcessor.from_pretrained(folder).image_processor
    for item, inputs in zip(items, each, strict=True):
        own = image_processor([item], return_tensors="pt")["pixel_values"]
        assert torch.equal(inputs["pixel_values"], own)
    first, _, other, _ = (inputs["pixel_values"] for inputs in each)
    assert first.shape != other.shape or not torch.equal(first, other)


def schema(folder, images):
    """Every answer keeps to it, also in a batch of unequal items."""
    backend = make_backend(folder, decoding=TO_SCHEMA, batch_size=3)
    for reply in replies(backend, questions(images)).values():
        record = json.loads(reply.text)
        assert reply.constrained
        assert set(record) == {"kind", "pages"}
        assert record["kind"] in ("card", "letter")
        assert record["pages"] in (1, 2)


def pdf(folder, images):
    """Its pages are images, as many as the limit says."""
    book = images / "book.pdf"
    pages = load_images([path for item in questions(images) for path in item.media], ImageLimits())
    pages[0].save(book, save_all=True, append_images=pages[1:])
    drawn = []
    for number, page in enumerate(load_images([book], ImageLimits(pages=2))):
        drawn.append(images / f"drawn_{number}.png")
        page.save(drawn[-1])
    answers = replies(
        make_backend(folder, pages=2), [Question("book", [book]), Question("drawn", drawn)]
    )
    assert answers["book"].text == answers["drawn"].text
    assert answers["book"].tokens == answers["drawn"].tokens


CHECKS = {
    "page of text": page_of_text,
    "one image": one_image,
    "several pages": several_pages,
    "batches": batches,
    "schema": schema,
    "PDF": pdf,
}
PACKAGES = ("transformers", "torch", "torchvision")
COLUMNS = ("family", "for example", "asked for a page", "writes", *CHECKS, WITHOUT_TORCHVISION)


def known(family, folder):
    """What `families.yaml` says about a family whose model is in a folder."""
    model_type = json.loads((folder / "config.json").read_text())["model_type"]
    found = family_of(model_type, folder.name)
    prompt = {None: "as any other", "": "without words"}.get(found.prompt)
    cut = f"{(found.prompt or '')[:30]}{'…' if len(found.prompt or '') > 30 else ''}"
    return {
        "for example": f"`{family.model}`",
        "asked for a page": prompt or f"`{cut}`",
        "writes": found.form,
    }


def refusal(folder):
    """Why a model cannot be used at all on this machine; None where it can."""
    try:
        make_backend(folder)
    except HdbenchError as error:
        return str(error)
    return None


def tried(family, folder):
    """What is found out about a family on this machine: cells of its row by column."""
    model, images = folder / family.folder, folder / "images"
    images.mkdir()
    save_tiny_model(family, model)
    if not HAS_TORCHVISION:
        return {WITHOUT_TORCHVISION: "no" if refusal(model) else "yes"}
    cells = known(family, model)
    for column, check in CHECKS.items():
        try:
            check(model, images)
            cells[column] = "yes"
        except (AssertionError, HdbenchError, ValueError) as error:
            cells[column] = f"no: {error}"
    return cells


def tried_all():
    """What is found out on this machine, by the family's name."""
    cells = {}
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            cells[family.name] = tried(family, Path(folder))
    return cells


def shown():
    """The table in the documentation: cells by the family's name and the column."""
    table = DOCS.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


def main():
    if HAS_TORCHVISION and len(sys.argv) == 1:
        versions = [f"{package} {version(package)}" for package in PACKAGES]
        print(json.dumps([versions, tried_all()]))
        return
    if HAS_TORCHVISION or len(sys.argv) != 2:
        sys.exit(__doc__)
    path = os.pathsep.join([sys.argv[1], os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "models.model_families"]
    child = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, check=True
    )
    (versions, found), without = json.loads(child.stdout), tried_all()
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for family in FAMILIES:
        cells = found[family.name] | without[family.name]
        cells |= {"family": family.name}
        lines.append(f"| {' | '.join(cells[column] for column in COLUMNS)} |")
    before, after = DOCS.read_text(encoding="utf-8").split(BEGIN)
    lines += ["", f"Tried on a CPU with {', '.join(versions)}."]
    table = "\n".join(lines)
    DOCS.write_text(f"{before}{BEGIN}\n{table}\n\n{END}{after.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)  # more make such small models slower
    main()
