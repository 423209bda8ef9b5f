"""The folder of a collection, and what lies beside it: the dataset, and the last plan."""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from hdbench.about import NAMESPACE
from hdbench.answers.field_paths import FieldPath, field_paths
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.checks.folder import refuse_errors
from hdbench.benchmarks.building.checks.problems import Example, FaultyFolderError
from hdbench.benchmarks.building.recipe import find_recipe, raise_version
from hdbench.benchmarks.spec import DESCRIPTION, BenchmarkSpec
from hdbench.collections.home.background import Background
from hdbench.collections.home.stamps import Kept, is_as_new, stamp_of
from hdbench.collections.trust.folder import DECISION, PLAN
from hdbench.collections.trust.plan import Plan, read_plan
from hdbench.collections.trust.seals import kind_of
from hdbench.collections.truth.agreement import agreement_of_recipe
from hdbench.collections.truth.media import CollectionMedia
from hdbench.collections.truth.metadata import check_collection
from hdbench.collections.truth.progress import ProgressReader, TruthProgress
from hdbench.common.writing import refuse_links
from hdbench.errors import HdbenchError, joined

SCHEMA = "answer.schema.json"
PROMPT = "prompt.txt"

DECISIONS = "decisions"
"""The folder, beside the collection, of the plans that are made here."""

OUT = "out"
"""The folder, beside a plan that was made here, in which it is applied."""

_PLANS = (PLAN, f"*/{PLAN}", f"{DECISIONS}/*/{PLAN}", f"{DECISIONS}/*/{OUT}/{PLAN}")
"""Where plans, and applied plans, may be, beside the collection."""

_BUILT_FROM = (METADATA, DESCRIPTION, SCHEMA, PROMPT, "README.md", "CHANGELOG.md")


def key_of(folder: Path) -> str:
    """Return the part of addresses that stands for a folder."""
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


class FoundPlan(NamedTuple):
    """A plan of a collection.

    Attributes:
        plan: its content.
        hash: its hash.
        file: its file.
        out: the folder in which it is applied, which need not exist yet.
        is_begun: whether `trust apply` has started to work through it.
    """

    plan: Plan
    hash: str
    file: Path
    out: Path
    is_begun: bool = False


class CollectionFolder:
    """The folder of a collection, and where commands that are run beside it put the dataset.

    Plans that commands made beside the collection, or in a folder there, count as well; the one
    that was made last is that of the collection.

    Args:
        folder: its folder.

    Attributes:
        folder: same as in Args.
        key: the part of addresses that stands for it.
        beside: the folder that it is in, in which commands are run.
        background: work on it that runs in threads.

    Raises:
        HdbenchError: it is not a collection in the plain form.
    """

    def __init__(self, folder: Path) -> None:
        check_collection(folder)
        self.folder, self.key, self.beside = folder, key_of(folder), folder.parent
        self._reading, self._building = Lock(), Lock()
        self._progress: ProgressReader | None = None
        self._kept, self.background = Kept(), Background()

    @property
    def spec(self) -> BenchmarkSpec:
        """Return its description.

        Raises:
            HdbenchError: it cannot be used.
        """
        files = [self.folder / name for name in (DESCRIPTION, "errata.yaml")]
        return self._kept.get("spec", files, lambda: find_recipe(str(self.folder)).spec)

    @property
    def schema(self) -> AnswerSchema:
        """Return the form of its answers.

        Raises:
            HdbenchError: it cannot be used.
        """
        path = self.folder / SCHEMA
        return self._kept.get("schema", [path], lambda: AnswerSchema.load(path))

    @property
    def fields(self) -> Sequence[FieldPath]:
        """Return the fields of an answer."""
        return field_paths(self.schema)

    @property
    def media(self) -> CollectionMedia:
        """Return the media of its items."""
        files = [self.folder / METADATA]
        return self._kept.get("media", files, lambda: CollectionMedia(self.folder))

    @property
    def built_name(self) -> str:
        """Return the dataset's name as a command takes it that is run beside the collection."""
        return f"{NAMESPACE}/{self.spec.name}"

    @property
    def built(self) -> Path:
        """Return the dataset's folder, whether it is built or not."""
        return self.beside / NAMESPACE / self.spec.name

    def progress(self) -> TruthProgress:
        """Return how far the ground truth is.

        Raises:
            HdbenchError: it cannot be read.
        """
        with self._reading:
            reader = self._progress or ProgressReader(self.folder)
            self._progress = None  # after an error, it is read from the beginning
            progress = reader.read()
            self._progress = reader
            return progress

    def last_plan(self) -> FoundPlan | None:
        """Return the plan that was made last, if there is one.

        Raises:
            HdbenchError: a plan cannot be used.
        """
        plans: list[FoundPlan] = []
        applied: dict[str, Path] = {}
        for file in (file for pattern in _PLANS for file in self.beside.glob(pattern)):
            below = file.relative_to(self.beside)
            paths = [self.beside / part for part in (below, *below.parents[:-1])]
            if not file.is_file() or any(path.is_symlink() for path in paths):
                continue
            found = self._kept.get(file, [file], partial(_found, file))
            if found is None or found.plan.as_planned.name != self.spec.name:
                continue
            if file.with_name(DECISION).is_file():
                applied[found.hash] = file.parent
            else:
                plans.append(found)
        last = max(plans, key=lambda found: (found.plan.created, found.file), default=None)
        if last and last.hash in applied:
            return last._replace(out=applied[last.hash], is_begun=True)
        return last

    def planned(self) -> FoundPlan:
        """Return the plan that was made last.

        Raises:
            HdbenchError: there is none, or a plan cannot be used.
        """
        if found := self.last_plan():
            return found
        raise HdbenchError("nothing is planned yet: draw the values first")

    def usable_plan(self) -> FoundPlan | None:
        """Return the plan that was made last; None if it cannot be used."""
        with suppress(HdbenchError):  # the page of the decision says what is wrong
            return self.last_plan()
        return None

    def is_built(self) -> bool:
        """Return whether the dataset has been built since the collection changed.

        Once a plan rests on it, it stays as it is: of another one, the plan would promise nothing.
        """
        built = stamp_of(self.built / DESCRIPTION)
        if built and self.last_plan():
            return True
        return is_as_new(built, (stamp_of(self.folder / name) for name in _BUILT_FROM))

    def ensure_built(self) -> Path:
        """Build the dataset, unless it has been since the collection changed.

        Other data under the version that runs have answered get a version of their own.

        Returns:
            The dataset's folder.

        Raises:
            HdbenchError: it cannot be built; the message is the first one of `hdbench check`.
        """
        refuse_links(self.built, self.beside)
        with self._building:
            if self.is_built():
                return self.built
            try:
                refuse_errors(self.folder, self.built.parent)
            except FaultyFolderError as error:
                errors = [each for each in error.report.problems if each.severity == "error"]
                if [each.kind for each in errors] != ["changed_data"]:
                    first = errors[0]
                    example = first.examples[0] if first.examples else Example()
                    raise HdbenchError(
                        "{place}: {what}: {remedy}",
                        place=joined(list(filter(None, (first.file, example.id, example.value)))),
                        what=first.message,
                        remedy=first.remedy,
                    ) from error
                raise_version(
                    find_recipe(str(self.folder)), "- Changes of the items or the ground truth.\n"
                )
            recipe = find_recipe(str(self.folder))
            # It stays on this computer: to publish it, a license has to be stated.
            build(
                recipe,
                self.built.parent,
                accept_licence=True,
                agreement=agreement_of_recipe(recipe),
            )
            return self.built


def _found(file: Path) -> FoundPlan | None:
    """Return the plan in a file; None if it is something else."""
    plan = read_plan(file) if kind_of(file) == "plan" else None
    return FoundPlan(plan, plan.hash(), file, file.with_name(OUT)) if plan else None
