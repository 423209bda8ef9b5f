"""Markdown and plain text from Jinja templates, in which untrusted text does no harm."""

from functools import cache

import jinja2

from hdbench.common.markdown import as_code, as_prose, as_text
from hdbench.common.templates import STRICT


@cache
def markdown_templates(package: str) -> jinja2.Environment:
    """Return the templates of a package, with filters for untrusted text.

    `text`, `code` and `prose` are those of `common.markdown`; without one, a value stands as it is.

    Args:
        package: its name; the templates are in its folder `templates`.
    """
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.PackageLoader(package), keep_trailing_newline=True, **STRICT
    )
    environment.filters |= {"text": as_text, "code": as_code, "prose": as_prose}
    return environment
