"""The Reconciliation Service API 0.2 over authority files: requests and responses as plain data.

The API is specified at https://reconciliation-api.github.io/specs/0.2/.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.authorities.files import MAX_VALUE, AuthorityLine, read_lines_with_identifiers
from hdbench.authorities.identifiers import NAMESPACES, address_of, namespace_of
from hdbench.authorities.search import SAME, AuthorityMatch, AuthoritySearch
from hdbench.common.translation import current_language, translated
from hdbench.errors import HdbenchError, Message

MAX_QUERIES = 100
"""Maximum number of queries in a request; OpenRefine sends ten."""

MAX_CANDIDATES = 50
"""Maximum number of candidates for a query."""

_SPACE = "urn:hdbench:authority"  # of our types and properties, and of identifiers of any kind
_CANDIDATES = 5  # for a query that does not say how many
_SUGGESTED, _MOST_SUGGESTED = 20, 200
_NO_EXTENSION = Message("extend: must be an object of ids and properties")

REST, NAMES, ADDRESS = "rest", "names", "address"
"""Properties: of a query, what else belongs to the name; of an entity, its names and address."""

_PROPERTY_NAMES = {
    REST: Message("rest of the name, such as the first name"),
    NAMES: Message("all names"),
    ADDRESS: Message("address"),
}


class _Entity(NamedTuple):
    """Somebody or something in an authority file.

    Attributes:
        type: the type.
        names: its names, the preferred one first.
    """

    type: str
    names: list[str]


class Reconciliation:
    """A service that says who or what names mean.

    Args:
        files: type, such as `persons` → the lines of its authority file. One with an identifier
            that an earlier file has adds names to what is there.

    Attributes:
        unidentified: how many lines have no identifier, so that they are left out.
    """

    def __init__(self, files: Mapping[str, Sequence[AuthorityLine]]) -> None:
        self._searches: dict[str, AuthoritySearch] = {}
        self._entities: dict[str, _Entity] = {}
        self.unidentified = 0
        for name, lines in files.items():
            identified = [line for line in lines if line.identifier]
            self.unidentified += len(lines) - len(identified)
            self._searches[name] = AuthoritySearch(identified)
            for value, identifier in identified:
                self._entities.setdefault(identifier, _Entity(name, [])).names.append(value)
        self._namespace = namespace_of(self._entities)

    def manifest(self, base: str) -> dict[str, Any]:
        """Return the description of the service.

        Args:
            base: its address, without a slash at the end.
        """
        view = f"{base}/preview?id={{{{id}}}}"
        space = _SPACE
        if self._namespace:
            space = NAMESPACES[self._namespace][1]
            view = f"{space}{{{{id}}}}"
        return {
            "versions": ["0.2"],
            "name": f"hdbench: {', '.join(self._searches)}",
            "identifierSpace": space,
            "schemaSpace": _SPACE,
            "defaultTypes": [_named(name) for name in self._searches],
            "view": {"url": view},
            "batchSize": MAX_QUERIES,
            "preview": {"url": f"{base}/preview?id={{{{id}}}}", "width": 400, "height": 120},
            "suggest": {
                "entity": {"service_url": base, "service_path": "/suggest/entity"},
                "type": {"service_url": base, "service_path": "/suggest/type"},
                "property": {"service_url": base, "service_path": "/suggest/property"},
            },
            "extend": {
                "propose_properties": {"service_url": base, "service_path": "/properties"},
                "property_settings": [],
            },
        }

    def answers(self, queries: Any) -> dict[str, Any]:
        """Return the candidates for each query of a request.

        `match` is true only where a single entity of the wanted types has that name to the letter.

        Args:
            queries: key → query, as the specification has it.

        Raises:
            HdbenchError: it has another form, or there are too many queries.
        """
        if not isinstance(queries, dict) or not all(
            isinstance(query, dict) for query in queries.values()
        ):
            raise HdbenchError("queries: must be an object of queries")
        if len(queries) > MAX_QUERIES:
            raise HdbenchError("queries: more than {most}", most=MAX_QUERIES)
        return {key: {"result": self._result(query)} for key, query in queries.items()}

    def _result(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        limit = query.get("limit", _CANDIDATES)
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            limit = _CANDIDATES
        found = self._found(_name_in(query), _types_in(query), min(limit, MAX_CANDIDATES))
        is_clear = sum(candidate.score == SAME for candidate in found) == 1
        return [
            self._described(candidate)
            | {
                "type": [_named(self._entities[candidate.identifier].type)],
                "score": candidate.score,
                "match": is_clear and candidate.score == SAME,
            }
            for candidate in found[:limit]
        ]

    def _found(self, name: str, types: Sequence[str] | None, limit: int) -> list[AuthorityMatch]:
        """Return the best candidates, at least two so that it is known whether they are clear."""
        if len(name) > MAX_VALUE:
            return []
        best: dict[str, AuthorityMatch] = {}
        entity = self._entities.get(name)  # as an identifier is a query, too
        if entity and (types is None or entity.type in types):
            best[name] = AuthorityMatch(name, entity.names[0], name, SAME)
        for type_name, search in self._searches.items():
            if types is None or type_name in types:
                for candidate in search.find(name, max(limit, 2)):
                    known = best.setdefault(candidate.identifier, candidate)
                    if candidate.score > known.score:
                        best[candidate.identifier] = candidate
        return sorted(best.values(), key=lambda each: (-each.score, each.name))[: max(limit, 2)]

    def _described(self, candidate: AuthorityMatch) -> dict[str, Any]:
        names = self._entities[candidate.identifier].names
        others = "; ".join(dict.fromkeys(name for name in names if name != names[0]))
        described = {"id": candidate.identifier, "name": names[0]}
        return described | ({"description": others[:MAX_VALUE]} if others else {})

    def suggested_entities(self, prefix: str, cursor: int) -> dict[str, Any]:
        """Return entities whose names are like what somebody types, or whose identifier is.

        Args:
            prefix: what somebody types.
            cursor: how many are skipped.
        """
        last = min(cursor + _SUGGESTED, _MOST_SUGGESTED)
        found = self._found(prefix.strip(), None, last)[cursor:last]
        return {
            "result": [
                self._described(candidate)
                | {"notable": [_named(self._entities[candidate.identifier].type)]}
                for candidate in found
            ]
        }

    def suggested_types(self, prefix: str, cursor: int) -> dict[str, Any]:
        """Return types whose names contain what somebody types; see `suggested_entities`."""
        return {"result": _containing(prefix, map(_named, self._searches))[cursor:]}

    def suggested_properties(self, prefix: str, cursor: int) -> dict[str, Any]:
        """Return properties of a query whose names contain what somebody types."""
        return {"result": _containing(prefix, [_property(REST)])[cursor:]}

    def properties(self, type_name: str, limit: int | None) -> dict[str, Any]:
        """Return the properties of an entity that a table can be extended by.

        Args:
            type_name: its type.
            limit: how many are wanted at most; None for all.
        """
        found = [_property(NAMES), _property(ADDRESS)][:limit]
        limited = {} if limit is None else {"limit": limit}
        return {"type": type_name, "properties": found} | limited

    def extended(self, extension: Any) -> dict[str, Any]:
        """Return properties of entities.

        Args:
            extension: `ids` and `properties`, as the specification has it.

        Raises:
            HdbenchError: it has another form.
        """
        try:
            wanted = [each["id"] for each in extension["properties"]]
            identifiers = extension["ids"]
        except (KeyError, TypeError) as error:
            raise HdbenchError(_NO_EXTENSION) from error
        if not isinstance(identifiers, list) or not all(isinstance(i, str) for i in identifiers):
            raise HdbenchError(_NO_EXTENSION)
        known = [name for name in (NAMES, ADDRESS) if name in wanted]
        rows = {
            identifier: {name: self._values(identifier, name) for name in known}
            for identifier in identifiers
        }
        return {"meta": [_property(name) for name in known], "rows": rows}

    def _values(self, identifier: str, name: str) -> list[dict[str, str]]:
        entity = self._entities.get(identifier)
        if entity is None:
            return []
        texts = entity.names if name == NAMES else filter(None, [address_of(identifier)])
        return [{"str": text} for text in texts]

    def preview(self, identifier: str) -> str | None:
        """Return a page about an entity; None if there is none."""
        entity = self._entities.get(identifier)
        if entity is None:
            return None
        address, shown = address_of(identifier), escape(identifier)
        if address:
            shown = f'<a href="{escape(address)}" target="_blank" rel="noreferrer">{shown}</a>'
        first, *others = map(escape, dict.fromkeys(entity.names))
        return (
            f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{first}</title></head>'
            f"<body><p><b>{first}</b> ({escape(entity.type)}) {shown}</p>"
            f"<p>{'; '.join(others)}</p></body></html>"
        )


def read_reconciliation(paths: Sequence[Path]) -> Reconciliation:
    """Return a service over authority files; the name of each, without its ending, is a type.

    Raises:
        HdbenchError: a file is unusable or has no identifiers, or two have the same name.
    """
    files: dict[str, list[AuthorityLine]] = {}
    for path in paths:
        if path.stem in files:
            raise HdbenchError(
                "{place}: another file has this name, which is the type of its entries: rename it",
                place=path,
            )
        files[path.stem] = read_lines_with_identifiers(path)
    return Reconciliation(files)


def _name_in(query: Mapping[str, Any]) -> str:
    """Return the name that a query asks for, as authority files have it: `Frey, Karl`."""
    name = query.get("query")
    parts = [name] if isinstance(name, str) else []
    properties = query.get("properties")
    for each in properties if isinstance(properties, list) else ():
        if isinstance(each, dict) and each.get("pid") == REST:
            parts += _texts_in(each.get("v"))
    return ", ".join(filter(None, map(str.strip, parts)))


def _texts_in(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        text = each.get("name") if isinstance(each, dict) else each
        if isinstance(text, str):
            yield text


def _types_in(query: Mapping[str, Any]) -> list[str] | None:
    """Return the types that a query wants; None if it wants any."""
    types = query.get("type")
    named = types if isinstance(types, list) else [types]
    return [name for name in named if isinstance(name, str) and name] or None


def _containing(text: str, named: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Return what has a text in its id or name, in either case."""
    wanted = text.strip().casefold()
    return [each for each in named if any(wanted in part.casefold() for part in each.values())]


def _named(name: str) -> dict[str, str]:
    return {"id": name, "name": name}


def _property(name: str) -> dict[str, str]:
    return {"id": name, "name": translated(_PROPERTY_NAMES[name], current_language())}
