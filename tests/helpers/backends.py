"""A backend made without a command line, and what it says."""

from dataclasses import fields

from hdbench.models.backend import Asked, Decoding, Observer

_OF_ASKED = {field.name for field in fields(Asked)}


def made(kind, model, prompt, *, decoding=None, schema=None, **options):
    """A backend of a class; with `decoding.schema`, answers are held to the schema.

    Args:
        kind: its class.
        model: what is asked.
        prompt: the prompt's text.
        decoding: how answers are sampled.
        schema: the answer schema.
        options: fields of `Asked`, and options of the class.
    """
    decoding = decoding or Decoding()
    of_asked = {name: value for name, value in options.items() if name in _OF_ASKED}
    own = {name: value for name, value in options.items() if name not in _OF_ASKED}
    asked = Asked(str(model), decoding=decoding, **{"schema": decoding.schema} | of_asked)
    return kind(asked, prompt, schema, **own)


class Heard(Observer):
    """Keeps what a backend says.

    Attributes:
        said: its notices.
    """

    def __init__(self):
        self.said = []

    def notice(self, message):
        self.said.append(message)
