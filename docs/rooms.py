"""Draw the rooms of hdbench, and who uses whom, into docs/pictures/rooms.svg.

The arrows are the imports in `src/hdbench`, without those that follow from others: who uses
`report` uses what `report` uses. `lint-imports` holds that none leads up.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/hdbench"
PICTURE = ROOT / "docs/pictures/rooms.svg"

PLACES = {
    "cli": (1.0, 0),
    "space": (0.0, 1),
    "collections": (1.0, 1),
    "integrations": (2.0, 1),
    "report": (0.5, 2),
    "models": (1.5, 2),
    "evaluation": (1.0, 3),
    "statistics": (1.0, 4),
    "benchmarks": (1.0, 5),
    "scoring": (0.5, 6),
    "answers": (1.5, 6),
    "common": (1.0, 7),
}
"""Room → its column and row."""

SAYS = {
    "cli": "commands",
    "space": "pages for visitors",
    "collections": "one's own material",
    "integrations": "evaluate, inspect-ai, Hub",
    "report": "pages, plots, rankings",
    "models": "backends and runs",
    "evaluation": "score → Result, its file",
    "statistics": "intervals, ranks, agreement",
    "benchmarks": "what one is, how it is built",
    "scoring": "metrics, pure functions",
    "answers": "from bytes to answers",
    "common": "files, texts, tables",
}

WIDE, HIGH, ACROSS, DOWN, EDGE = 180, 44, 210, 78, 12


def used() -> dict[str, set[str]]:
    """Return the rooms that each room imports."""
    names = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    return {room: (_imported(SOURCE / room) & names) - {room} for room in names}


def _imported(folder: Path) -> set[str]:
    """Return what the modules of a folder import from hdbench."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    modules = (node.module or "" for node in nodes if isinstance(node, ast.ImportFrom))
    return {module.split(".")[1] for module in modules if module.startswith("hdbench.")}


def reached(rooms: dict[str, set[str]], room: str) -> set[str]:
    """Return all rooms that a room uses, itself or through others."""
    return rooms[room].union(*(reached(rooms, other) for other in rooms[room]))


def arrows(rooms: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return who uses whom, without what follows from other arrows."""
    return [
        (room, other)
        for room in PLACES
        for other in PLACES
        if other in rooms[room]
        and not any(other in reached(rooms, third) for third in rooms[room] - {other})
    ]


def drawing() -> str:
    """Return the picture."""
    rooms = used()
    if rooms.keys() != PLACES.keys():
        raise SystemExit(f"give a place to {', '.join(sorted(rooms.keys() ^ PLACES.keys()))}")
    corners = {
        room: (EDGE + column * ACROSS, EDGE + row * DOWN) for room, (column, row) in PLACES.items()
    }
    width = max(x for x, _ in corners.values()) + WIDE + EDGE
    height = max(y for _, y in corners.values()) + HIGH + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        'font-family="sans-serif" font-size="13" role="img"><title>The rooms of hdbench, and '
        "which uses which</title>",
        '<rect width="100%" height="100%" fill="#faf8f4"/>',
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0 8 4 0 8z" fill="#9a3412"/></marker>',
    ]
    for room, other in arrows(rooms):
        (x, y), (to_x, to_y) = corners[room], corners[other]
        shift = ((to_x > x) - (to_x < x)) * WIDE / 4
        start, end = (x + WIDE / 2 + shift, y + HIGH), (to_x + WIDE / 2 - shift, to_y)
        half = (start[1] + end[1]) / 2
        bend = f"C{start[0]} {half} {end[0]} {half} {end[0]} {end[1]}"
        parts.append(
            f'<path d="M{start[0]} {start[1]} {bend}" fill="none" stroke="#9a3412" '
            'stroke-width="1.5" marker-end="url(#tip)"/>'
        )
    for room, (x, y) in corners.items():
        parts.append(
            f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="6" fill="#fff" '
            f'stroke="#57534e"/><text x="{x + WIDE / 2}" y="{y + 18}" text-anchor="middle" '
            f'font-weight="bold" fill="#1c1917">{room}</text><text x="{x + WIDE / 2}" '
            f'y="{y + 35}" text-anchor="middle" font-size="11" fill="#57534e">{SAYS[room]}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
