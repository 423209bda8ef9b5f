"""The options of a model, as `--option` gives them."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError

from hdbench.common.names import did_you_mean
from hdbench.common.validation import Strict, why_unfit
from hdbench.errors import HdbenchError
from hdbench.models.backend import Asked, Decoding, ImageLimits

_OF_ASKED = {"revision", "batch_size", "concurrency", "timeout", "trust_remote_code"}


class RunOptions(Strict):
    """How a model is asked. What can change an answer must be the same in a run that is resumed.

    A server is sent only what was given.

    Attributes:
        batch_size: items that a local model is asked for at once.
        concurrency: requests to a server at once, or images that Tesseract reads at once.
        max_new_tokens: the longest answer, in tokens; longer ones are cut off; a local model's
            at 4096 by default.
        max_side: the maximum length of an image's longer side in pixels.
        pages: how many pages of a PDF the model is shown.
        revision: the model's revision on the Hub: a branch, tag or commit.
        schema_: hold answers to the benchmark's JSON Schema while they are written; by default a
            server is asked to, and a local model is not.
        seed: of the sampling.
        temperature: of the sampling; 0 is greedy, as a local model is by default.
        timeout: seconds that one request to a server may take, or one image for Tesseract.
        top_p: the share of the probability that nucleus sampling keeps.
        trust_remote_code: run Python code from the model's repository.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True)  # a commit can have only digits

    batch_size: int = Field(1, ge=1)
    concurrency: int = Field(4, ge=1)
    max_new_tokens: int | None = Field(None, ge=1)
    max_side: int = Field(2048, ge=1)
    pages: int = Field(5, ge=1)
    revision: str | None = None
    schema_: bool | None = Field(None, alias="schema")
    seed: int | None = None
    temperature: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    timeout: Annotated[float, Field(ge=0.1, allow_inf_nan=False)] = 300.0
    top_p: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    trust_remote_code: bool = False

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "RunOptions":
        """Return the options that were given.

        Raises:
            HdbenchError: one is unknown, or has no usable value.
        """
        names = [field.alias or name for name, field in cls.model_fields.items()]
        for name, value in given.items():
            if name not in names:
                raise HdbenchError(
                    "--option {option}: choose one of {names}{near}",
                    option=name,
                    names=", ".join(names),
                    near=did_you_mean(name, names),
                )
            if value is None:
                raise HdbenchError("--option {option}: has no value", option=name)
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            raise HdbenchError(
                "--option {option}: {why}", option=first["loc"][0], why=why_unfit(first)
            ) from error

    def asked(self, model: str, endpoint: str | None) -> Asked:
        """Return who is asked with them."""
        return Asked(
            model,
            endpoint=endpoint,
            decoding=Decoding(self.max_new_tokens, self.temperature, self.top_p, self.seed),
            schema=self.schema_,
            limits=ImageLimits(self.max_side, self.pages),
            **self.model_dump(include=_OF_ASKED),
        )
