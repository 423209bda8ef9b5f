"""A recipe: the folder that says how one dataset repository is built."""

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from hdbench import resources
from hdbench.benchmark import METADATA, BenchmarkSpec, Strict, read_yaml, validate
from hdbench.building.source import Source, download_source, folder_source
from hdbench.errors import HdbenchError
from hdbench.jsonio import read_jsonl

SHA256_DIGITS = 64


class Row(NamedTuple):
    """One row to build.

    Attributes:
        media: the path of its image in the source.
        ground_truth: all that scoring needs, and nothing else.
        columns: the values of the benchmark's own columns.
    """

    id: str
    media: str
    ground_truth: Any
    columns: Mapping[str, Any] = MappingProxyType({})


class Exclusion(Strict):
    """An item of the source that is left out, and why."""

    id: str
    reason: str


class Errata(Strict):
    """What `errata.yaml` says: reviewed corrections, each with its reason."""

    exclude: tuple[Exclusion, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """How one dataset repository is built.

    Attributes:
        folder: `benchmark.yaml`, the card, the schema, and `build.py` with `registry.txt`, or
            `metadata.jsonl` with its media where the rows are there in the plain form already.
        spec: what the built `benchmark.yaml` will say.
        sample: build the sample that the recipe carries, rather than the benchmark.
    """

    folder: Path
    spec: BenchmarkSpec
    errata: Errata
    sample: bool = False

    @property
    def plain_folder(self) -> Path:
        """Where rows in the plain form would be."""
        return self.folder / "sample" if self.sample else self.folder

    @property
    def has_script(self) -> bool:
        """Whether `build.py` makes the rows, and they are not there in the plain form."""
        return not self.sample and (self.folder / "build.py").is_file()

    def source(self, folder: Path | None) -> Source:
        """The verified source files: of a folder, or downloaded.

        Raises:
            HdbenchError: the folder is not there, or there is nowhere to download from.
        """
        if not self.has_script:
            return folder_source(self.plain_folder, {})
        registry = read_registry(self.folder / "registry.txt")
        if folder is not None:
            return folder_source(folder, registry)
        if self.spec.source is None:
            raise HdbenchError(f"{self.folder / 'benchmark.yaml'}: no source: give --source DIR")
        return download_source(self.spec.source.url, self.spec.source.revision, registry)

    def prompt(self, source: Source) -> bytes:
        """The prompt: the published one, or the sample's own."""
        if self.has_script and self.spec.source:
            return source.read(self.spec.source.prompt)
        return source.read("prompt.txt")

    def rows(self, source: Source) -> Iterator[Row]:
        """The rows, those that the errata exclude left out.

        Raises:
            HdbenchError: a row is unusable, or the errata exclude an id that is not there.
        """
        script = self._script()
        excluded = {item.id for item in self.errata.exclude} if not self.sample else set()
        for row in script.rows(source) if script and self.has_script else self._plain_rows():
            if row.id in excluded:
                excluded.remove(row.id)
            else:
                yield row._replace(columns=_columns(script, row)) if script else row
        if excluded:
            path = self.folder / "errata.yaml"
            raise HdbenchError(f"{path}: excludes {min(excluded)!r}, which is not in the source")

    def _plain_rows(self) -> Iterator[Row]:
        path = self.plain_folder / METADATA
        for line in read_jsonl(path):
            columns = dict(line.value)
            try:
                item_id, media = columns.pop("id"), columns.pop("file_name")
                truth = columns.pop("ground_truth")
            except KeyError as error:
                raise HdbenchError(f"{path}:{line.number}: no {error}") from None
            if not isinstance(item_id, str) or not isinstance(media, str):
                raise HdbenchError(f'{path}:{line.number}: "id" and "file_name" must be texts')
            yield Row(item_id, media, truth, columns)

    def _script(self) -> ModuleType | None:
        path = self.folder / "build.py"
        if not path.is_file():
            return None
        module_spec = importlib.util.spec_from_file_location(f"_build_{self.spec.name}", path)
        if module_spec is None or module_spec.loader is None:
            raise HdbenchError(f"{path}: cannot be imported")
        module = importlib.util.module_from_spec(module_spec)
        module_spec.loader.exec_module(module)
        return module


def _columns(script: ModuleType, row: Row) -> Mapping[str, Any]:
    try:
        columns: Mapping[str, Any] = script.columns(row.ground_truth)
    except (KeyError, TypeError) as error:
        raise HdbenchError(f"{row.id}: its truth is not of the benchmark's form: {error}") from None
    return columns


def find_recipe(name: str, *, sample: bool = False) -> Recipe:
    """The recipe of that name, or in the folder of that path.

    Raises:
        HdbenchError: there is none, or one of its files is unusable.
    """
    own = resources.folder("dataset_scripts")
    folder = next((place for place in (own / name, Path(name)) if _is_recipe(place)), None)
    if folder is None:
        known = ", ".join(sorted(place.name for place in own.iterdir() if _is_recipe(place)))
        raise HdbenchError(
            f"{name}: neither a benchmark of this hdbench ({known}) "
            "nor a folder with a benchmark.yaml"
        )
    path = folder / "benchmark.yaml"
    spec = validate(BenchmarkSpec, read_yaml(path), path)
    errata = Errata()
    if (folder / "errata.yaml").is_file():
        errata = validate(Errata, read_yaml(folder / "errata.yaml"), folder / "errata.yaml")
    if sample:
        if not (folder / "sample" / METADATA).is_file():
            raise HdbenchError(f"{name}: has no sample")
        # It is this project's own work, and its figures must never pass for the benchmark's.
        own_work = {"version": f"{spec.version}+sample", "licence": "cc0-1.0", "source": None}
        spec = spec.model_copy(update=own_work)
    return Recipe(folder, spec, errata, sample)


def _is_recipe(folder: Path) -> bool:
    return (folder / "benchmark.yaml").is_file()


def read_registry(path: Path) -> dict[str, str]:
    """The pinned sha256 of each source file: lines of path, a blank, sha256.

    Raises:
        HdbenchError: the file cannot be read, or a line is not of that form.
    """
    registry = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise HdbenchError(f"{path}: cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        file, _, sha256 = line.rpartition(" ")
        if not file or len(sha256) != SHA256_DIGITS:
            raise HdbenchError(f"{path}:{number}: not a path, a blank and a sha256")
        registry[file] = sha256
    return registry
