"""Bounds on what is read, in one table: whatever comes from elsewhere may be hostile.

Each is far above what real files have, and reading takes memory and time that grow with the file.
How much is shown at most stands where it is shown, and what one visitor may use of a Space in
`space/work.py`.
"""

# JSON and XML

MAX_DEPTH = 100
"""Maximum depth to which objects and lists are nested. Records here are three deep."""

MAX_LINE = 64 * 2**20
"""Maximum number of bytes in one line of a JSON Lines file."""

MAX_KEYS = 200_000
"""Maximum number of keys in one line of a JSON Lines file: each takes 100 bytes of memory or more,
and `MAX_VALUES` bounds what is scored."""

MAX_XML = 64 * 2**20
"""Maximum size in bytes of an XML document."""

MAX_XML_NODES = 2_000_000
"""Maximum number of elements and attributes of XML in memory at the same time."""

MAX_WHOLE = 64 * 2**20
"""Maximum size in bytes of a JSON file that is read whole; in memory it takes several times as
much."""

# Files, folders and archives

MAX_DIRECTORY = 64 * 2**20
"""Maximum size in bytes of a ZIP's list of members: some 600,000 members."""

MAX_UNPACKED = 2 * 2**30
"""Maximum number of bytes that one file is unpacked to, or all in a ZIP."""

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

MAX_EXCEL_CELL = 32_767
"""Maximum number of characters in a cell of Excel, counted in UTF-16."""

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

MAX_INNER_DEPTH = 6
"""Maximum depth of a record in wrappers."""

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

# Files that people write

MAX_TEXT_FILE = 4 * 2**20
"""Maximum number of bytes of a file that people write by hand, such as a prompt or a card."""

MAX_YAML = 16 * 2**20
"""Maximum size in bytes of a YAML file that hdbench writes with what it drew, such as a plan."""

MAX_YAML_VALUES = 5_000_000
"""Maximum number of keys and values in YAML, with those that aliases repeat: a few lines of aliases
of aliases can stand for billions."""

MAX_DIGITS = 1_000
"""Maximum number of digits of a number in YAML: Python reads longer ones in quadratic time."""

MAX_FILLED = 64 * 2**20
"""Maximum number of characters of a card that is filled in."""

MAX_FRONT = 2**20
"""Maximum number of characters of a card's YAML; reading 1 MiB takes seconds."""

# Authority files

MAX_AUTHORITY_FILE = 64 * 2**20
"""Maximum size of an authority file, so that it can be searched between two keystrokes."""

MAX_AUTHORITY_LINES = 1_000_000
"""Maximum number of lines of an authority file."""

MAX_AUTHORITY_VALUE = 500
"""Maximum number of characters of a value and its identifier."""

# Media

MAX_MEDIA_FILE = 2**30
"""Maximum size in bytes of an image, of a PDF, and of another file that a recipe names."""

MAX_THUMBNAIL_PIXELS = 89_000_000
"""Maximum number of pixels of an image of which a small picture is made: a scan of an A3 page at
600 dpi has 70 million."""

MAX_PIXELS = 150_000_000
"""Maximum number of pixels of an image of a new collection."""

MAX_PAGES = 1_000
"""Maximum number of pages of an item: they become files of its folder, and images of its page."""

MAX_TEXT_ITEM = 2**20
"""Maximum number of bytes of an item that is a text: a prompt has to hold it."""

# A population

MAX_POPULATION = 1_000_000
"""Maximum number of items of a population."""

MAX_ID = 1_000
"""Maximum number of characters in an id."""

MAX_STRATA = 1_000
"""Maximum number of strata: with more, hardly any has the two items that a figure needs."""

# Checks of a folder

MAX_ALIKE = 100
"""Maximum number of different problems of one kind that are kept. A file of fields with made-up
names has one for each of them, and they must not hide what else is wrong."""

MAX_UNFIT = 2_000
"""Maximum number of ground truths in which each violation of the schema is found. Others that do
not keep to it are only counted."""

MAX_TRIED = 500
"""Maximum number of fields that are tested for whether the metric scores them."""

MAX_COST = 50_000_000
"""Maximum of the squares of the numbers of values in the ground truths that are scored: the items
of two lists are compared each with each. It takes some seconds."""

MAX_FIELDS = 2_000
"""Maximum number of fields that are looked at. Folders with more use values as names."""

MAX_DISTINCT = 20_000
"""Maximum number of different values kept of a field: with more, it is not a vocabulary."""

MAX_TRUTH_VALUES = 10_000
"""Maximum number of values that are looked at in one ground truth."""

MAX_NEAR = 20_000_000
"""Maximum number of comparisons of a field's values; they take seconds."""

# Scoring

MAX_ITEM_PAIRS = 25_000_000
"""Maximum number of pairs of items that are looked at: 5,000 items in each of two lists."""

MAX_PAGE_PAIRS = 1_000_000
"""Maximum number of pairs of pages that are compared; an answer's further pages are invented."""

MAX_AD_PAIRS = 1_000_000
"""Maximum number of pairs of texts compared for one group of ads: 1,000 ads by 1,000."""

MAX_CHARACTER_PAIRS = 10**8
"""The maximum product of two texts' lengths for them to be compared: 10,000 characters each. The
longest field of the benchmark has a few thousand."""

MAX_XML_TEXT = 2**20
"""Maximum number of characters in a text that is parsed as XML."""

MAX_LITERAL = 10_000
"""Maximum number of characters in a Python literal: Python's own parser is not safe at every
length."""

MAX_PASTED = 1_000_000
"""Maximum characters of a list: larger ones are scored in the scorer's Space, or by hdbench."""

MAX_KEPT_PATHS, MAX_KEPT_LENGTH = 10_000, 200
"""Maximum number of paths that are kept once they were built, and of their characters: answers can
have any keys."""

# Collections

MAX_WORK_LIST = 2**29
"""Maximum size in bytes of a work list, which has a row for each doubtful value of a collection."""

MAX_PEOPLE_LINE = 4 * 2**20
"""Maximum number of bytes in a line of what people entered: a ground truth, or a comment."""

MAX_VALUE_DEPTH = 60
"""Maximum depth of a value, which keeps records readable."""

MAX_COMMENT = 10_000
"""Maximum number of characters in a person's comment on an item."""

MAX_READING = 100_000
"""Maximum number of characters in what a person reads of a single value."""

MAX_UPLOAD = 8 * 2**30
"""Maximum number of bytes of a file that is dropped on the home."""

# Results and models

MAX_RESULT = 256 * 2**20
"""Maximum size in bytes of a result file: one for 1,000,000 cards has some 45 MiB, 80 MiB if no
answer was valid JSON only, and one for as many texts 140 MiB."""

MAX_GROUP = 256 * 2**20
"""Maximum bytes of a group of rows of a Parquet file: they are in memory together."""

MAX_IMAGE = 256 * 2**20
"""Maximum number of bytes of an image in an archive."""

MAX_RESPONSE = 8 * 2**20
"""Maximum bytes of a response; the text of 100,000 tokens has fewer than one million."""

MAX_RESPONSE_VALUES = 200_000
"""Maximum objects and lists in a response, counted by their brackets: more take seconds to read,
and while they are read no other answer is."""
