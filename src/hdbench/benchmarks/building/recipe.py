"""A recipe: the folder that says how one dataset repository is built."""

import hashlib
import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, Self

from hdbench.about import installed_folder
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.building.errata import ERRATA, Correction, Errata
from hdbench.benchmarks.building.metadata import RecipeRow, next_version
from hdbench.benchmarks.building.source import (
    SHA256_DIGITS,
    SourceFiles,
    download_source,
    folder_source,
    hub_source,
)
from hdbench.benchmarks.spec import (
    MEDIA_KEYS,
    PROVENANCE_COLUMNS,
    PUBLISHED,
    TRUTH,
    BenchmarkSpec,
    ColumnType,
    HubSource,
    UrlSource,
    bare,
    read_spec,
    recipe_names,
)
from hdbench.common.bounds import MAX_MEDIA_FILE, MAX_TEXT_FILE
from hdbench.common.files import bytes_in, file_in, text_in
from hdbench.common.jsonio import EXACT, read_jsonl
from hdbench.common.validation import read_yaml, validate
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError, did_you_mean

SCRIPT = "build.py"
"""The program that makes a recipe's rows."""

REGISTRY = "registry.txt"


@dataclass(frozen=True)
class Recipe:
    """A description of how one dataset repository is built.

    Attributes:
        folder: `benchmark.yaml`, the card, the schema, and `build.py` with `registry.txt`, or
            `metadata.jsonl` with its media if the rows are already there in the plain form.
        spec: what the built `benchmark.yaml` will say.
        sample: build the sample that the recipe carries, rather than the benchmark.
        run_script: whether its `build.py` may run, a program with the user's rights.
    """

    folder: Path
    spec: BenchmarkSpec
    errata: Errata
    sample: bool = False
    run_script: bool = False

    @property
    def has_proposed(self) -> bool:
        """Return whether its rows also have a ground truth with proposed corrections."""
        return not self.sample and bool(self.errata.proposed)

    @property
    def plain_folder(self) -> Path:
        """Return the folder where rows in the plain form would be."""
        return self.folder / "sample" if self.sample else self.folder

    @property
    def has_script(self) -> bool:
        """Return whether `build.py` makes the rows, and they are not there in the plain form."""
        return not self.sample and self._has_program

    @property
    def _has_program(self) -> bool:
        return (self.folder / SCRIPT).exists()

    def refuse_script(self) -> None:
        """Refuse a `build.py` that must not run.

        Raises:
            HdbenchError: there is one; the message says how to run it.
        """
        if self._has_program and not self.run_script:
            raise HdbenchError(
                "{place}: this folder has a program of its own, which would run with all your "
                "rights: read it first; if you trust it, build with --run-script",
                place=self.folder / SCRIPT,
            )

    def source(self, folder: Path | None, accept_changed: Sequence[str] = ()) -> SourceFiles:
        """Return the verified source files: from a folder, or downloaded.

        Args:
            folder: where they are; None downloads them.
            accept_changed: names of pinned files that may differ, such as a corrected table.

        Raises:
            HdbenchError: the folder does not exist, or there is nowhere to download from.
        """
        if not self.has_script:
            return folder_source(self.plain_folder, {}, within=self.folder)
        published = self.spec.source
        pinned = self.folder / REGISTRY
        registry = read_registry(self.folder) if pinned.exists() else {}
        changed = set()
        for name in accept_changed:
            paths = [path for path in registry if path == name or path.endswith("/" + name)]
            if not paths or folder is None:
                raise HdbenchError(
                    "--accept-changed {name}: needs --source"
                    if folder is None
                    else "--accept-changed {name}: {place} has no such file",
                    name=name,
                    place=pinned,
                )
            changed.update(paths)
        if folder is not None:
            return folder_source(folder, registry, may_differ=changed)
        if published is None:
            raise HdbenchError(
                "{place}: no source: give --source DIR", place=self.folder / "benchmark.yaml"
            )
        if isinstance(published, HubSource):
            return hub_source(published.hub, published.revision)
        return download_source(published.url, published.revision, registry)

    def of_source(self, source: SourceFiles) -> Self:
        """Return this recipe, under a version of its own if the source was changed.

        It declares the columns about how the ground truths were made, where rows have them.
        """
        update: dict[str, Any] = {}
        if changed := source.changes():
            digest = hashlib.sha256("".join(changed).encode()).hexdigest()[:8]
            update["version"] = f"{self.spec.version}+changed.{digest}"
        if provenance_columns := self._columns_of_provenance():
            update["columns"] = {**self.spec.columns, **provenance_columns}
        return replace(self, spec=self.spec.model_copy(update=update)) if update else self

    def prompt(self, source: SourceFiles) -> bytes:
        """Return the prompt: the published one if there is one, otherwise this project's own."""
        if self.has_script and isinstance(self.spec.source, UrlSource):
            return source.read(self.spec.source.prompt)
        own = self._plain("prompt.txt")
        return bytes_in(self.folder, own if (self.folder / own).exists() else "prompt.txt")

    def files(self, source: SourceFiles) -> dict[str, bytes]:
        """Return the repository's other files, by name; a sample has those that it carries."""
        if self.has_script and self.spec.files:
            contents: dict[str, bytes] = self._script().files(source)
            return {name: contents[name] for name in self.spec.files}
        names = [name for name in self.spec.files if (self.plain_folder / name).exists()]
        return {
            Path(name).name: bytes_in(self.folder, self._plain(name), MAX_MEDIA_FILE)
            for name in names
        }

    def rows(self, source: SourceFiles) -> Iterator[RecipeRow]:
        """Yield the rows, without those that the errata exclude and with the others corrected.

        Raises:
            HdbenchError: a row is unusable, or the errata do not fit the source.
        """
        rows = self._script().rows(source) if self.has_script else self._plain_rows()
        if not self.sample:
            rows = self.errata.apply(rows, changed=bool(source.changes()))
        yield from map(self._with_columns, rows)

    def _columns_of_provenance(self) -> dict[str, ColumnType]:
        """Return the columns of plain rows that `benchmark.yaml` need not declare."""
        if self.has_script or PROVENANCE_COLUMNS.keys() & self.spec.columns.keys():
            return {}
        keys = {key for line in read_jsonl(self._metadata) for key in line.value}
        return {name: kind for name, kind in PROVENANCE_COLUMNS.items() if name in keys}

    def _with_columns(self, row: RecipeRow) -> RecipeRow:
        """Return a row with the columns that the recipe's script makes from its ground truth."""
        if row.ground_truth is None or not self._has_program:
            return row
        try:
            columns = self._script().columns(row.ground_truth)
        except (KeyError, TypeError) as error:
            raise HdbenchError(
                "{id}: its ground truth does not have the benchmark's form: {why}",
                id=row.id,
                why=error,
            ) from error
        return row._replace(columns={**row.columns, **columns})

    def _plain_rows(self) -> Iterator[RecipeRow]:
        key = MEDIA_KEYS[self.spec.media]
        path = self._metadata
        for line in read_jsonl(path, decoder=EXACT):
            columns = dict(line.value)
            try:
                item_id, media = columns.pop("id"), columns.pop(key)
                truth = columns.pop(TRUTH)
            except KeyError as error:
                raise HdbenchError(
                    "{place}:{line}: no {key}", place=path, line=line.number, key=error
                ) from error
            is_text = self.spec.media == "text"
            shown = media if isinstance(media, list) and not is_text else [media]
            if not all(isinstance(text, str) for text in (item_id, *shown)):
                raise HdbenchError(
                    '{place}:{line}: "id" and "{key}" must be texts in quotes',
                    place=path,
                    line=line.number,
                    key=key,
                )
            published = columns.pop(PUBLISHED, None)
            for name, record in ((TRUTH, truth), (PUBLISHED, published)):
                if not isinstance(record, dict | None):
                    raise HdbenchError(
                        '{place}:{line}: "{key}" must be an object, or null if there is none',
                        place=path,
                        line=line.number,
                        key=name,
                    )
            if truth is None:
                published = None  # the item was discarded, and is not scored by any protocol
            elif published is None:
                published = truth
            paths, text = ((), media) if is_text else (tuple(shown), "")
            yield RecipeRow(item_id, paths, truth, columns, text, published)

    def _script(self) -> ModuleType:
        """Return the recipe's `build.py`, run once."""
        self.refuse_script()
        return load_script(file_in(self.folder, SCRIPT))

    @property
    def _metadata(self) -> Path:
        return file_in(self.folder, self._plain(METADATA))

    def _plain(self, name: str) -> Path:
        """Return the path in the folder of a file that belongs to the rows in the plain form."""
        return Path("sample", name) if self.sample else Path(name)


@cache
def load_script(path: Path) -> ModuleType:
    """Run a recipe's `build.py`, once, and return its module."""
    module_spec = importlib.util.spec_from_file_location(f"_build_{path.parent.name}", path)
    if module_spec is None or module_spec.loader is None:
        raise HdbenchError("{place}: cannot be imported", place=path)
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module


def plain_folder(name: str) -> Path | None:
    """Return the folder of a user's own benchmark in the plain form, by its name or path.

    It may have errors. None for the benchmarks that hdbench has, and where a `build.py` makes the
    rows.
    """
    if bare(name) in recipe_names():
        return None
    folders = (Path(bare(name)), Path(name))  # built in hdb/, it is still made from its own folder
    candidates = (path for path in folders if _is_recipe(path) or (path / METADATA).is_file())
    folder = next(candidates, None)
    return None if folder is None or (folder / SCRIPT).exists() else folder


def find_recipe(name: str, *, sample: bool = False, run_script: bool = False) -> Recipe:
    """Return the recipe with that name, or in the folder at that path.

    Args:
        name: its name, or the folder.
        sample: take the sample that it carries.
        run_script: the `build.py` of a user's folder may run; hdbench's own always do.

    Raises:
        HdbenchError: there is none, or one of its files is unusable.
    """
    own, short = installed_folder("dataset_scripts"), bare(name)
    candidates = (own / short, Path(short), Path(name))
    folder = next((candidate for candidate in candidates if _is_recipe(candidate)), None)
    if folder is None:
        names = recipe_names()
        raise HdbenchError(
            "{name}: neither a benchmark that hdbench has ({known}) nor a folder with a "
            "benchmark.yaml{near}",
            name=name,
            known=", ".join(names),
            near=did_you_mean(short, names),
        )
    spec = read_spec(file_in(folder, "benchmark.yaml"))
    errata = Errata()
    if (folder / ERRATA).exists():
        errata = validate(
            Errata, read_yaml(file_in(folder, ERRATA), MAX_TEXT_FILE), folder / ERRATA
        )
        check_owners(spec, errata.corrections, folder / ERRATA)
    if sample:
        if not (folder / "sample" / METADATA).exists():
            raise HdbenchError("{name}: has no sample", name=name)
        # It is this project's own work, and its figures must never pass for the benchmark's.
        own_work = {"licence": "cc0-1.0", "rights": None, "source": None}
        spec = spec.model_copy(update={"version": f"{spec.version}+sample", **own_work})
    ours = folder.resolve().is_relative_to(own.resolve())
    return Recipe(folder, spec, errata, sample, run_script or ours)


def check_owners(spec: BenchmarkSpec, corrections: Sequence[Correction], place: Path) -> None:
    """Refuse a correction accepted by owners that `benchmark.yaml` does not name.

    Without a source, the data belong to the benchmark's makers.

    Raises:
        HdbenchError: there is one.
    """
    for correction in corrections:
        if correction.accepted and spec.source is not None and not spec.owners:
            raise HdbenchError(
                "{place}: {id} {field}: is accepted, and benchmark.yaml does not say who owns the "
                "data: name them under owners",
                place=place,
                id=correction.id,
                field=correction.field,
            )


def _is_recipe(folder: Path) -> bool:
    return (folder / "benchmark.yaml").exists()


def read_registry(folder: Path) -> dict[str, str]:
    """Return the pinned sha256 of each source file: lines of a path, a space and a sha256.

    `-` instead of the sha256 means that only the file's revision is pinned.

    Args:
        folder: the recipe's folder.

    Raises:
        HdbenchError: the file cannot be read, or a line does not have that form.
    """
    registry = {}
    path = folder / REGISTRY
    for number, line in enumerate(text_in(folder, REGISTRY, MAX_MEDIA_FILE).splitlines(), 1):
        file, _, sha256 = line.rpartition(" ")
        is_here = file and not PurePosixPath(file).is_absolute() and ".." not in file.split("/")
        if not is_here or (len(sha256) != SHA256_DIGITS and sha256 != "-"):
            raise HdbenchError(
                "{place}:{line}: must be a path, a space and a sha256", place=path, line=number
            )
        registry[file] = sha256.strip("-")
    return registry


# Versions of a benchmark's data: the next one, written into its folder with the reason


def raise_version(recipe: Recipe, why: str, besides: Mapping[Path, str] = {}) -> str:
    """Write the next version into `benchmark.yaml` and the changelog: all files or none.

    Args:
        recipe: the benchmark.
        why: the lines of the changelog's entry.
        besides: further files and their texts, which are written last.

    Returns:
        The version.

    Raises:
        HdbenchError: the version is not X.Y.Z, or a file cannot be read or written.
    """
    path, changelog = recipe.folder / "benchmark.yaml", recipe.folder / "CHANGELOG.md"
    before = recipe.spec.version
    if not re.fullmatch(r"\d+\.\d+\.\d+", before):
        raise HdbenchError(
            "{place}: version: {version!r} is not X.Y.Z and cannot be raised",
            place=path,
            version=before,
        )
    version = next_version(before)
    text, count = re.subn(
        rf"^(version:.*?){re.escape(before)}",
        rf"\g<1>{version}",
        text_in(path.parent, path.name),
        flags=re.MULTILINE,
    )
    if count != 1:
        raise HdbenchError(
            "{place}: must have one line with version: {version}", place=path, version=before
        )
    head, newest, older = text_in(changelog.parent, changelog.name).partition("\n## ")
    entry = f"{head}\n## {version}\n\n{why}{newest}{older}"
    _write({path: text, changelog: entry, **besides})
    return version


def _write(texts: Mapping[Path, str]) -> None:
    """Write files: all or none."""
    before = {path: path.read_bytes() if path.is_file() else None for path in texts}
    try:
        for path, text in texts.items():
            write_whole(path, text.encode())
    except BaseException:
        for path, data in before.items():
            if data is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != data:
                write_whole(path, data)
        raise
