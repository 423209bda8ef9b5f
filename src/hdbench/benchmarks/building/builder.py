"""From a recipe to a dataset repository: hashing, checks, card, and the final rename."""

import hashlib
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import yaml

from hdbench.about import installed_folder
from hdbench.benchmarks.agreement import AGREEMENT, Agreement
from hdbench.benchmarks.benchmark import EXAMPLE, METADATA
from hdbench.benchmarks.building.archive import OPEN_LICENCES, UNSTATED, write_archive
from hdbench.benchmarks.building.card import write_cards
from hdbench.benchmarks.building.metadata import Built, DateColumns, metadata_line
from hdbench.benchmarks.building.namespace import writing
from hdbench.benchmarks.building.recipe import SCRIPT, Recipe, load_script
from hdbench.benchmarks.building.source import MEDIA_FOLDERS, SourceFiles, copy_media
from hdbench.benchmarks.model_facts import RESULTS
from hdbench.benchmarks.spec import PUBLISHED, TRUTH, TRUTHS, BenchmarkSpec, Provenance
from hdbench.common.files import MissingFileError, bytes_in, file_in
from hdbench.common.jsonio import write_json
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError, Message, shortened

_SPACES: tuple[Literal["metrics", "spaces"], ...] = ("metrics", "spaces")

_AGAINST_DATES = {
    "id": Message("give the items other ids"),
    "text": Message("put a word before them"),
}
"""Remedies for a column of texts that all begin like dates, unless it can be a date32."""


def build(
    recipe: Recipe,
    out: Path,
    *,
    source: Path | None = None,
    accept_licence: bool = False,
    accept_changed: Sequence[str] = (),
    allow_missing: bool = False,
    agreement: Agreement | None = None,
) -> Built:
    """Write a dataset repository into a namespace folder, whole or not at all.

    Building the same input again gives the same bytes.

    Args:
        recipe: what to build.
        out: the namespace folder, such as `hdb`.
        source: a folder with the source files; None downloads them.
        accept_licence: build even if the licence is not an open one.
        accept_changed: names of pinned files that may differ, such as a corrected table; this gives
            a version of its own.
        allow_missing: keep rows whose media the source lacks, with null media.
        agreement: how well the people agree who made the ground truth, if that is known.

    Raises:
        HdbenchError: a source file is missing, damaged or not as pinned, an id occurs
            twice, the licence is not accepted, a file is outside the folder, or a `build.py` may
            not run.
    """
    recipe.refuse_script()
    spec = recipe.spec
    if spec.licence not in OPEN_LICENCES and not accept_licence:
        raise _licence_not_accepted(spec)
    files = recipe.source(source, accept_changed)
    recipe = recipe.of_source(files)
    spec = recipe.spec
    with writing(out, spec.name) as folder:
        built = _write_rows(recipe, files, folder, allow_missing=allow_missing)
        (folder / "prompt.txt").write_bytes(recipe.prompt(files))
        for name in ("answer.schema.json", "CHANGELOG.md"):
            _copy(recipe, name, folder / name)
        for name, data in recipe.files(files).items():
            (folder / name).write_bytes(data)
        if recipe.sample:
            example = file_in(recipe.folder, Path("sample/predictions.jsonl"))
            shutil.copyfile(example, folder / EXAMPLE)
        description = yaml.safe_dump(
            _plain(spec),
            sort_keys=False,
            allow_unicode=True,
        )
        (folder / "benchmark.yaml").write_text(description, encoding="utf-8")
        if agreement is not None:
            write_json(folder / AGREEMENT, agreement.model_dump(mode="json"))
        write_cards(recipe, built, folder, agreement)
        write_archive(spec, folder)
    _forget_cached_copy(out / spec.name)
    return replace(built, folder=out / spec.name)


def _licence_not_accepted(spec: BenchmarkSpec) -> HdbenchError:
    """Return the error for data without an open license, by whose data they are."""
    if spec.source is not None:  # published by others, whose terms its card names
        return HdbenchError(
            "{name}: its licence ({licence}) is not an open one: read its card, and if your use is "
            "covered, build it with --accept-licence",
            name=spec.name,
            licence=spec.licence,
        )
    if spec.licence == UNSTATED:
        return HdbenchError(
            "{name}: no license is stated in benchmark.yaml, so hdbench will not publish it: to "
            "build it for yourself, add --accept-licence; if the data are yours to license, state "
            "one there, such as licence: cc-by-4.0",
            name=spec.name,
        )
    return HdbenchError(
        "{name}: its license ({licence}) is not an open one, so hdbench will not publish it: to "
        "build it for yourself, add --accept-licence",
        name=spec.name,
        licence=spec.licence,
    )


def _plain(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return the values of a spec in types that YAML can hold."""
    values = spec.model_dump(exclude_none=True, exclude_unset=True)
    return values if spec.canary is None else values | {"canary": str(spec.canary)}


def install_spaces(out: Path) -> list[Path]:
    """Copy the metrics and the scorer into a namespace folder, so that it is the whole namespace.

    Raises:
        HdbenchError: there is a folder of such a name that hdbench did not make.
    """
    installed = []
    for space in sorted(
        app.parent for name in _SPACES for app in installed_folder(name).glob("*/app.py")
    ):
        with writing(out, space.name) as folder:
            for file in sorted(space.iterdir()):
                if file.is_file():
                    shutil.copyfile(file, folder / file.name)
        installed.append(out / space.name)
    return installed


def _forget_cached_copy(folder: Path) -> None:
    """Drop what `datasets` has cached of another folder with exactly the same content.

    It would be loaded instead of this one, and with it the absolute paths of the other folder's
    images, which may have been moved or deleted since.
    """
    import datasets  # noqa: PLC0415  slow to import

    builder = datasets.load_dataset_builder(str(folder.resolve()))
    shutil.rmtree(builder.cache_dir, ignore_errors=True)


def _write_rows(recipe: Recipe, files: SourceFiles, folder: Path, *, allow_missing: bool) -> Built:
    """Write the media and the metadata."""
    spec = recipe.spec
    ids: set[str] = set()
    missing: list[str] = []
    without_truth = 0
    provenances = Counter[Provenance]()
    text_columns = [name for name, kind in spec.columns.items() if kind == "string"]
    dates = DateColumns()
    if spec.media != "text":
        (folder / MEDIA_FOLDERS[spec.media]).mkdir()
    with (folder / METADATA).open("wb") as metadata:
        for row in progress(recipe.rows(files), spec.title):
            if row.id in ids:
                where = row.media[0] if row.media else spec.name
                raise HdbenchError(
                    "{place}: the id {id!r} occurs twice: give each item its own",
                    place=where,
                    id=row.id,
                )
            ids.add(row.id)
            without_truth += row.ground_truth is None
            if row.ground_truth is not None and (how := Provenance.of_row(row.columns)):
                provenances[how] += 1
            copies: list[tuple[str, str]] = []
            for path in row.media:
                try:
                    copies.append(copy_media(files, path, folder, spec.media))
                except MissingFileError:
                    missing.append(path)
            line = metadata_line(row, copies, spec, has_proposed=recipe.has_proposed)
            metadata.write(line)
            texts = {"id": row.id, **{name: row.columns.get(name) for name in text_columns}}
            if spec.media == "text":
                texts["text"] = row.text
            for name, text in texts.items():
                if text is not None:
                    dates.add(name, text)
    if missing and not allow_missing:
        raise HdbenchError(
            "{name}: {count} media files are missing: {files}: get them, or keep their rows "
            "without them with --allow-missing",
            name=spec.name,
            count=len(missing),
            files=", ".join(missing),
        )
    if not ids:
        raise HdbenchError(
            "{name}: the source has no rows: is it the source of this benchmark?", name=spec.name
        )
    for name in dates.names():
        raise HdbenchError(
            "{name}: every {column} begins like a date: {remedy}",
            name=spec.name,
            column=name,
            remedy=_AGAINST_DATES.get(name, Message("make the column a date32")),
        )
    content_hash = hashlib.sha256((folder / METADATA).read_bytes()).hexdigest()
    truths = TRUTHS if recipe.has_proposed else (TRUTH, PUBLISHED)
    return Built(
        folder, spec.version, len(ids), missing, without_truth, content_hash, provenances, truths
    )


def _copy(recipe: Recipe, name: str, target: Path) -> None:
    try:
        target.write_bytes(bytes_in(recipe.folder, name))
    except MissingFileError as error:
        raise HdbenchError(
            "{place}: no such file: a benchmark needs it", place=recipe.folder / name
        ) from error


# The dataset of recorded runs, which is not a benchmark; its recipe makes all of it


def build_results(out: Path, source: Path | None) -> list[Message]:
    """Write the dataset into a namespace folder, whole or not at all.

    Args:
        out: the namespace folder, such as `hdb`.
        source: where the runs are; None downloads them.

    Returns:
        What there is to say about it, one line each.

    Raises:
        HdbenchError: the source cannot be read or downloaded, or has no runs.
    """
    script = load_script(installed_folder("dataset_scripts") / RESULTS / SCRIPT)
    with writing(out, RESULTS) as folder:
        built = script.build(folder, source)
    lines = [
        Message(
            "{folder}: {total} runs ({runs}), {answers} answers; not in the source: {missing}"
            if built.missing
            else "{folder}: {total} runs ({runs}), {answers} answers",
            folder=out / RESULTS,
            total=sum(built.runs.values()),
            runs=", ".join(f"{name} {count}" for name, count in built.runs.items()),
            answers=built.answers,
            missing=", ".join(built.missing),
        )
    ]
    if built.left_out:
        lines.append(
            Message(
                "{count:,} run is left out, since files of it are missing or damaged: {names}",
                plural="{count:,} runs are left out, since files of them are missing or damaged: "
                "{names}",
                count=len(built.left_out),
                names=shortened(built.left_out),
            )
        )
    return lines
