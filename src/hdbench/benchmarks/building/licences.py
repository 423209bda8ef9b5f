"""Licences under which a dataset may be built and published without further permission."""

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from hdbench.common.names import nearest
from hdbench.errors import Message

UNSTATED = "other"
"""The word for a licence that is not stated."""

OPEN_LICENCES = {
    "apache-2.0": "Apache-2.0",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "cc0-1.0": "CC0-1.0",
    "mit": "MIT",
    "pddl": "PDDL-1.0",
}
"""The Hub's name for each → its SPDX identifier."""


def unusable(licence: str) -> tuple[Message, Message] | None:
    """Return the error in a licence's name and its remedy; None if it can be stated.

    Example:
        >>> unusable("CC BY")[0], unusable("cc0-1.0"), unusable("other")
        ('SPDX knows no such licence', None, None)
    """
    if licence in OPEN_LICENCES or licence == UNSTATED:
        return None
    try:
        canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        near = nearest(licence.lower().replace(" ", "-"), OPEN_LICENCES)
        remedy = Message(
            "{near}choose one of {names}, or {unstated} if none is stated",
            near=Message("did you mean {near}? Otherwise ", near=near) if near else "",
            names=", ".join(OPEN_LICENCES),
            unstated=UNSTATED,
        )
        return Message("SPDX knows no such licence"), remedy
    if licence.lower() in OPEN_LICENCES:
        return Message("is not in small letters"), Message("write {right}", right=licence.lower())
    return None
