"""Rows that a notebook shows as a table, and that become a DataFrame."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from hdbench.common.display.html import HtmlTable, block

_SHOWN = 20
"""Maximum number of rows that a notebook shows."""


class RowTable(Sequence[Mapping[str, Any]]):
    """A sequence of rows, each column → value; all rows have the same columns.

    Args:
        rows: the rows.
        columns: the columns, in order.
        values: those with values of any type, which a DataFrame has as they are: 1957 beside a
            missing value does not become 1957.0.

    Example:
        >>> table = RowTable([{"field": "title", "f1": 0.9}], ["field", "f1"])
        >>> table
        <RowTable of 1 row: field, f1>
        >>> table[0]["f1"]
        0.9
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        columns: Sequence[str],
        values: Sequence[str] = (),
    ) -> None:
        self._rows, self.columns, self._values = rows, tuple(columns), tuple(values)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> "RowTable": ...

    def __getitem__(self, index: int | slice) -> "Mapping[str, Any] | RowTable":
        """Return a row, or some rows as a table."""
        if isinstance(index, slice):
            return RowTable(self._rows[index], self.columns, self._values)
        return self._rows[index]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        """Return whether columns and rows are the same."""
        if not isinstance(other, RowTable):
            return NotImplemented
        return (self.columns, [*self]) == (other.columns, [*other])

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __repr__(self) -> str:
        """Return the number of rows, and the columns."""
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        return f"<RowTable of {rows}: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        shown = self[:_SHOWN]
        columns = [
            name for name in self.columns if any(row[name] is not None for row in shown)
        ] or self.columns
        rows = [[row[name] for name in columns] for row in shown]
        more = [f"{len(self) - _SHOWN:,} more rows"] if len(self) > _SHOWN else []
        return block(tables=[HtmlTable(columns, rows)], below=more)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`."""
        import pandas as pd  # noqa: PLC0415  slow to import

        frame = pd.DataFrame([*self], columns=list(self.columns))
        for name in self._values:
            frame[name] = pd.Series([row[name] for row in self], dtype=object)
        return frame
