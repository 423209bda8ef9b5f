"""Bounds on what is read, in one table: whatever comes from elsewhere may be hostile.

Each is far above what real files have, and reading takes memory and time that grow with the file.
"""

# JSON and XML

MAX_DEPTH = 100
"""Maximum depth to which objects and lists are nested. Records here are three deep."""

MAX_LINE = 64 * 2**20
"""Maximum number of bytes in one line of a JSON Lines file."""

MAX_XML = 64 * 2**20
"""Maximum size in bytes of an XML document."""

MAX_XML_NODES = 2_000_000
"""Maximum number of elements and attributes of XML in memory at the same time."""

MAX_WHOLE = 64 * 2**20
"""Maximum size in bytes of a JSON file that is read whole; in memory it takes several times as
much."""

# Files, folders and archives

MAX_FILES = 1_000_000
"""Maximum number of files in a folder or ZIP."""

MAX_ZIP = 512 * 2**20
"""Maximum size in bytes of all the files with answers in a ZIP, unpacked."""

MAX_DIRECTORY = 64 * 2**20
"""Maximum size in bytes of a ZIP's list of members: some 600,000 members."""

MAX_UNPACKED = 2 * 2**30
"""Maximum number of bytes that one file is unpacked to, or all in a ZIP."""

MAX_OPEN = 64
"""Maximum number of files that are held open: a process may not open as many as it likes."""

MAX_PAGE_FILES = 100_000
"""Maximum number of files with texts of pages in a folder and its subfolders."""

MAX_RECORDS = 100_000
"""Maximum number of records in a MARC file."""

MAX_RUN_INFO = 64 * 2**20
"""Maximum size in bytes of a run.json: the ids of 700,000 items take 10 MiB."""

# Tables

MAX_CELLS = 10_000_000
"""Maximum number of cells in a table, rows times columns."""

MAX_COLUMNS = 1_000
"""Maximum number of columns in a table."""

MAX_TEXT = 128 * 2**20
"""Maximum number of characters in a table, a text that many cells share counted for each."""

MAX_CELL = 16 * 2**20
"""Maximum number of characters in a cell of CSV."""

MAX_WORKBOOK = 512 * 2**20
"""Maximum size in bytes of a workbook, unpacked."""

MAX_TAGS = 8_000_000
"""Maximum number of tags in a workbook's XML: a filled cell has four, and takes 250 bytes."""

MAX_ROWS = 2**20
"""Maximum number of rows: what a sheet of Excel can have."""

MAX_GROUP_VALUES = 10 * MAX_CELLS
"""Maximum number of values in a group of a Parquet file's rows, with those in lists."""

# An answer

MAX_VALUES = 100_000
"""Maximum number of values in a record; scoring takes more time and memory for each. A page of
advertisements has some 200."""

MAX_CHECKED = 10_000
"""Maximum number of values in an answer that is searched for violations: each can be one. A page of
advertisements has some 200."""

MAX_VIOLATIONS = 1_000
"""Maximum number of violations found in one answer: a hostile one can have millions."""

MAX_MARKDOWN = 200_000
"""Maximum number of characters in a text whose Markdown is removed. A page has some 5,000."""

MAX_DAMAGED = 500_000
"""Maximum number of characters in a text that is searched, if it is not JSON as a whole. The
longest texts of models have some 250,000."""

MAX_WORK = 8_000_000
"""Maximum number of characters read as valid JSON, over all places where it may begin; looking for
the end of a damaged block counts as `SCANNED` times its length, and repairing it as `REPAIRED`
times."""

MAX_BLOCKS = 1_000
"""Maximum number of brackets at which to look for a block, over all texts of an answer."""

MAX_RESTARTS = 20
"""Maximum number of lines of a damaged block at which to look for a whole record."""

MAX_LOOKED_AT = 100_000
"""Maximum number of characters of a text that are searched for its format."""

MAX_LEAVES = 200
"""Maximum number of values in an object that are compared with placeholders or an example."""

MAX_COMPARED, MAX_CHARACTERS = 20_000, 1_000
"""Maximum number of pairs of texts compared in one answer, and of characters in each."""

MAX_NODES, MAX_INNER_DEPTH = 6_000, 6
"""Maximum number of values of an answer that may be a wrapper, and their maximum depth."""

MAX_TEXTS, MAX_LEVELS = 200, 3
"""Maximum number of texts within an answer that are read as answers, and their maximum nesting."""

# A folder

MAX_OUTER = 20
"""Maximum number of folders around those of an export: what is further within is not looked for."""

# A schema

MAX_SCHEMA_DEPTH = 50
"""Maximum depth of nested schemas. A schema that refers to itself has no end."""

MAX_SCHEMA_NODES = 10_000
"""Maximum number of values in a schema whose references are replaced: they can double at every
step."""
