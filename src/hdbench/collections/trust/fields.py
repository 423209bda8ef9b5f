"""The values of a record: the fields that an item has one value of, and their texts."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hdbench.answers.field_paths import field_paths
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.value_text import text_of
from hdbench.errors import HdbenchError, Message, did_you_mean


class ItemField(NamedTuple):
    """A field that an item has one value of: a single value, or a list taken as one value.

    Attributes:
        path: names from the record inwards, as in `publication.year`.
        places: possible locations in a record, as names from the record inwards: some benchmarks
            allow an object around the answer.
    """

    path: str
    places: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names from the record inwards."""
        return self.places[0]


def schema_with_fields(benchmark: Benchmark) -> AnswerSchema:
    """Return the schema of a benchmark's answers.

    Raises:
        HdbenchError: it has none, so that its fields are unknown.
    """
    schema = benchmark.answer_schema()
    if schema is None:
        raise HdbenchError(
            "{benchmark}: has no answer.schema.json, which names its fields", benchmark=benchmark.id
        )
    return schema


def fields_of(schema: AnswerSchema) -> tuple[list[ItemField], list[str]]:
    """Return the fields of a benchmark's answers, in the schema's order.

    Returns:
        The fields that an item has one value of, and the paths of those that it may have several
        values of, because they are within a list of objects.

    Example:
        >>> schema = AnswerSchema({"properties": {
        ...     "year": {"type": "integer"},
        ...     "places": {"type": "array", "items": {"type": "string"}},
        ...     "persons": {"type": "array", "items": {"properties": {"name": {"type": "string"}}}},
        ... }})
        >>> single, several = fields_of(schema)
        >>> [field.path for field in single], several
        (['year', 'places'], ['persons[].name'])
    """
    paths = [field.path for field in field_paths(schema)]
    several = [path for path in paths if "[]" in path.removesuffix("[]")]
    single = [path.removesuffix("[]") for path in paths if path not in several]
    return _located(single, schema), several


def _located(paths: Sequence[str], schema: AnswerSchema) -> list[ItemField]:
    """Return fields by their paths; one within an object around the answer is the same field."""
    alternatives = [list(part.get("properties", {})) for part in schema.alternatives]
    around = [names[0] for names in alternatives if len(names) == 1 < len(alternatives)]
    places: dict[str, list[tuple[str, ...]]] = {path: [] for path in paths}
    for path in paths:
        name, _, inner = path.partition(".")
        field = inner if name in around and inner in places else path
        places[field].append(tuple(path.split(".")))
    return [ItemField(path, tuple(names)) for path, names in places.items() if names]


def value_of(record: Any, field: ItemField) -> Any:
    """Return the value of a field in a record; None if there is none."""
    for names in field.places:
        value = record
        for name in names:
            value = value.get(name) if type(value) is dict else None
        if value is not None:
            return value
    return None


def texts_of(record: Any, fields: Sequence[ItemField]) -> list[str]:
    """Return the text of each field of a record."""
    return [text_of(value_of(record, field)) for field in fields]


def chosen_fields(benchmark: Benchmark, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the fields whose values may be accepted, and those left out as parts of lists.

    Args:
        benchmark: the benchmark.
        wanted: the paths of the fields to use; none for all.

    Returns:
        The paths of both; if some fields are wanted, no others count as left out.

    Raises:
        HdbenchError: the benchmark does not declare its fields; a field does not exist, or an item
            may have several values of it.
    """
    schema = schema_with_fields(benchmark)
    single, several = fields_of(schema)
    paths = [field.path for field in single]
    names = list(dict.fromkeys(name.removesuffix("[]") for name in wanted)) or paths
    for name in names:
        if any(other == name or other.startswith(f"{name}[]") for other in several):
            raise HdbenchError(
                "--fields {field}: an item may have several values of it, and these go wrong "
                "together: choose among {known}",
                field=name,
                known=", ".join(paths) or Message("the fields of other benchmarks"),
            )
        if name not in paths:
            raise HdbenchError(
                "--fields {field}: no such field; {benchmark} has {known}{hint}",
                field=name,
                benchmark=benchmark.id,
                known=", ".join(paths) or Message("none"),
                hint=did_you_mean(name, paths),
            )
    for field in single:
        if field.path in names and not schema.type_of(field.names):
            raise HdbenchError(
                "{benchmark}: {field}: its name has a dot, which stands between names: rename it, "
                "or choose others with --fields",
                benchmark=benchmark.id,
                field=field.path,
            )
    if not names:
        raise HdbenchError(
            "{benchmark}: an item may have several values of every field ({fields}), and these go "
            "wrong together: nothing can be promised about lists yet",
            benchmark=benchmark.id,
            fields=", ".join(several[:5]),
        )
    return names, [] if wanted else several
