"""Transcriptions: character and word error rate of texts (`hdb/text_cer`)."""

import math
import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from rapidfuzz.distance import Levenshtein

from hdbench.common.bounds import MAX_PAGE_PAIRS
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import (
    EFFORT,
    Corrected,
    FieldMatch,
    Figure,
    ItemScore,
    Metric,
    MissingFieldsError,
    Outcome,
    TextRecord,
    added_plainly,
    check_fields,
    check_list,
    figure_names,
    one_of,
    only_if,
    ratio,
    read_digits,
    read_figures,
    renamed,
    rounded,
    truncated,
)
from hdbench.scoring.text_equality import Normalizer, similarity
from hdbench.scoring.transcriptions import (
    DEFAULTS,
    RATES,
    Invented,
    Text,
    is_xml,
    page_texts,
    pages_of,
    read_steps,
    read_texts,
    read_watched,
)

_PAGE_BREAK = re.compile(r"\f|^---[ \t]*$", re.MULTILINE)


class PreparedTexts(NamedTuple):
    """A ground truth, checked once.

    Attributes:
        value: the ground truth, as it is compared.
        rewritten: whether it was not written in canonical form.
    """

    value: dict[str, Any]
    rewritten: bool


class TextCer(Metric):
    """Character and word error rate of transcriptions.

    An item has one text or several, in its record or in each page of a list. The edit distance of
    a text is the Levenshtein distance from the reference, in characters for the CER, in words (by
    white space) for the WER. A rate is micro (summed distance divided by the summed length of the
    references; it can exceed 1.0), macro (the mean over texts, each at most 1.0), or the mean over
    items of each item's mean over its texts (`cer_items`, `wer_items`). Lower is better.

    `bwer` is the WER of the words without their order (Vidal, Toselli, Ríos-Vila, Calvo-Zaragoza,
    2023, arXiv 2301.05935): with n words in the reference, m in the answer, and c of them in both,
    max(n, m) - c, summed over texts and divided by the summed n. It never exceeds the WER, and
    `order_gap`, what the WER has beyond it, is what words in another order cost.

    One answer that repeats itself without end can make the micro CER of a whole run. So runs are
    compared by two figures: `failure_share`, the share of items whose micro CER is 1 or more, those
    without an answer among them, and `cer_without_failures`, the micro CER over all other items.

    Of the characters in `watch`, `watch_kept` is the share of those in the references that the
    answers have in their place (higher is better), and `watch_added` how many the answers have
    where the references do not, per 1,000 characters of these (lower is better), both by the
    alignment that the CER has (as HCPR and AIR in Levchenko, 2025, arXiv 2510.06743).

    Null, white space alone, and what is neither text nor number count as an empty text. A text
    without counterpart has similarity 0.0 and a rate of 1.0. An empty reference has a rate of 0.0
    if the answer is empty, too, otherwise 1.0; what the answer has there is also invented.

    Args:
        protocol: `documented` or `published`; a benchmark states the options of each.
        texts: path → when a text is scored: `always`; `present`: unless it is empty on both sides;
            `until_absent`: the first of numbered texts (`addition1`, `addition2`, …), up to the
            first that the ground truth lacks, and unless empty on both sides. A path is a field,
            or one of each page of a list: `pages[].text`.
        pages: lists of pages are paired by `position`, or `aligned`: so that the summed similarity
            is greatest. Above a million pairs, the answer's further pages count as invented.
        normalize: what is done to texts on both sides, in order: `nfc`, `nfkc`, `lowercase`,
            `casefold`, `whitespace`, `punctuation`, `long_s`, `line_breaks`, `hyphenation`,
            `diacritics`, `{"remove": CHARACTERS}`; or such a list for each of `cer`, `wer` and
            `similarity`.
        unit: `character` (code points) or `grapheme` (what a reader takes for one character).
        watch: characters that matter to an edition, as `ſꝛæ`, or ranges of them, as `Α-ω`;
            adds `watch_kept` and `watch_added`.
        markdown: `remove` or `keep` Markdown's marks in files that end in `.md`.
        xml: adds `well_formed`, the share of texts that parse as XML.
        unanswered: `failure`, or `empty_object`: an item without an answer is one with `{}`.
        round: `{"text": DIGITS, "item": DIGITS, "run": DIGITS}`: rounds figures.
        sum: `exact`: sums are rounded once; `plain`: they are added from left to right.
        figures: name → `{"of": FIGURE, "scale": FACTOR}`: figures under another name.

    Raises:
        HdbenchError: the protocol is unknown, or an option is unusable.

    Example:
        >>> metric = TextCer()
        >>> truth = metric.prepare({"text": "Rother Wein"})
        >>> metric.score({"text": "Roter Wein"}, truth).statistics["cer"] == 1 / 11
        True
    """

    name: ClassVar[str] = "text_cer"
    rules: ClassVar[int] = 2
    statistics: ClassVar[tuple[str, ...]] = (
        "cer_errors",
        "cer_length",
        "cer_sum",
        "cer",
        "failures",
        "read_errors",
        "read_length",
        "wer_errors",
        "wer_length",
        "wer_sum",
        "wer",
        "bwer_errors",
        "watched",
        "watched_kept",
        "watched_added",
        "similarity",
        "texts",
        "texts_perfect",
        "well_formed",
        "characters_invented",
        "perfect",
        *EFFORT,
    )
    item_figure: ClassVar[str] = "similarity"
    figures: ClassVar[tuple[Figure, ...]] = (
        # A single answer that repeats itself without end can outweigh all others.
        Figure("cer", "error", False, has_interval=False, judged_by="cer_without_failures"),
        Figure(
            "cer_without_failures",
            "error",
            False,
            always=False,
            leaves_out="failure_share",
            divided_by=(("read_length",),),
        ),
        Figure("failure_share", "error", False, share_of="failures"),
        Figure("wer", "error", False, has_interval=False, judged_by="cer_without_failures"),
        Figure("bwer", "error", False, has_interval=False),
        Figure("order_gap", "error", False, has_interval=False),
        *Figure.errors("cer_macro", "wer_macro", in_short=False, divided_by=(("texts",),)),
        *Figure.errors("cer_items"),
        *Figure.errors("wer_items", in_short=False),
        *Figure.rates("watch_kept", always=False, divided_by=(("watched",),)),
        Figure("watch_added", "error", False, always=False, has_interval=False),
        *Figure.rates("similarity"),
        *Figure.rates("well_formed", always=False, divided_by=(("texts",),)),
        *Figure.counts("texts", "texts_perfect", "items_perfect", higher_is_better=True),
        *Figure.counts("characters_invented", higher_is_better=False),
    )
    corrected: ClassVar[Corrected | None] = "character"
    vectorized: ClassVar[bool] = True
    option_names: ClassVar[tuple[str, ...]] = tuple(DEFAULTS)

    def __init__(self, protocol: str = "documented", **options: Any) -> None:
        super().__init__(protocol)
        self._options = DEFAULTS | options
        self._texts = read_texts(self.canonical(self._options["texts"]))
        self._steps = read_steps(self._options["normalize"])
        self._aligned = (
            one_of("pages", self._options["pages"], ("position", "aligned")) == "aligned"
        )
        unit = one_of("unit", self._options["unit"], ("character", "grapheme"))
        self._split = _graphemes if unit == "grapheme" else _as_it_is
        self._watched = read_watched(self._options["watch"])
        self._xml = self._options["xml"]
        if not isinstance(self._xml, bool):
            raise HdbenchError("xml: {value} is not true or false", value=repr(self._xml))
        one_of("unanswered", self._options["unanswered"], ("failure", "empty_object"))
        one_of("markdown", self._options["markdown"], ("remove", "keep"))
        plain = one_of("sum", self._options["sum"], ("exact", "plain")) == "plain"
        self._total = added_plainly if plain else math.fsum
        self._digits = read_digits(self._options["round"], ("text", "item", "run"))
        self._renamed = read_figures(self._options["figures"], figure_names(self))

    @property
    def options(self) -> dict[str, Any]:
        """The options and their values."""
        return self._options

    @property
    def signed_options(self) -> dict[str, Any]:
        """The options that are not the defaults: a signature is one line."""
        return {name: value for name, value in self.options.items() if value != DEFAULTS[name]}

    @property
    def watched(self) -> Container[str]:
        """The characters of `watch`."""
        return () if self._watched is None else self._watched

    def prepare(self, reference: dict[str, Any]) -> PreparedTexts:
        """Return a ground truth as it is compared.

        Raises:
            HdbenchError: it has none of the texts, or a page has none, though one is always scored;
                or its pages are not a list.
        """
        value = self.canonical(reference)
        names = [key for name, fields in self._texts for key in ([name] if name else fields)]
        is_needed = any("always" in fields.values() for _, fields in self._texts)
        if is_needed and value.keys().isdisjoint(names):
            raise MissingFieldsError(
                "a ground truth has no field in {texts}: name the paths of their texts with the "
                "option texts",
                texts=", ".join(self._options["texts"]),
            )
        for name, fields in self._texts:
            if name is not None:
                check_list(self.name, value, name)
                if "always" in fields.values():
                    for at, page in enumerate(pages_of(value, name)):
                        check_fields(self.name, page, fields, f"{name}[{at}]")
        return PreparedTexts(value, value is not reference)

    def of_text(self, text: str, prepared: PreparedTexts | None = None) -> TextRecord | None:
        """A text as a record with the first text that is always scored, and that text's reference.

        A form feed, or a line `---`, divides it into the pages of a ground truth that has several.
        None under the published rules, which knew records only.
        """
        always = (
            (name, field)
            for name, fields in self._texts
            for field, when in fields.items()
            if when == "always"
        )
        name, field = next(always, (None, ""))
        if not field or self.protocol == "published":
            return None
        truth, rewritten = prepared or PreparedTexts({}, rewritten=False)
        if name is None:
            text = text.replace("\f", "\n")
            return TextRecord({field: text}, PreparedTexts({field: truth.get(field)}, rewritten))
        pages = pages_of(truth, name)
        parts = _PAGE_BREAK.split(text)
        if len(pages) == 1:
            parts = ["\n".join(parts)]
        record = {name: [{field: part.strip("\n")} for part in parts]}
        only = {name: [{field: page.get(field)} for page in pages]}
        return TextRecord(record, PreparedTexts(only, rewritten), len(parts) < min(2, len(pages)))

    def score(self, record: dict[str, Any] | None, prepared: PreparedTexts) -> ItemScore:
        """The counts and sums of one item.

        Args:
            record: the answer, a JSON object; None counts as a complete failure.
            prepared: the item's ground truth, from `prepare`.

        Returns:
            For `cer` and `wer` the summed errors and lengths, the sum over texts of the rates, and
            the item's mean (0.0 to 1.0, lower is better); whether its micro CER is 1 or more
            (`failures`), otherwise its errors and length once more (`read_errors`, `read_length`);
            the errors in words without their order (`bwer_errors`); the characters of `watch` in
            the ground truth, those kept, and those added; its mean `similarity` (0.0 to 1.0, higher
            is better); how many texts there are, are perfect, and parse as XML; how many
            characters are invented; `perfect`: 1 if the answer needs no edit; `EFFORT`: the edit
            distance of all texts with the invented ones, and the characters of the ground truth.
        """
        answer = self.canonical(record)
        texts, invented = self._compare(answer or {}, prepared.value)
        statistics: dict[str, float] = {}
        for rate in RATES:
            rates = [text.rates[rate] for text in texts]
            total = self._total(rates)
            statistics[f"{rate}_errors"] = sum(text.errors[rate] for text in texts)
            statistics[f"{rate}_length"] = sum(text.lengths[rate] for text in texts)
            statistics[f"{rate}_sum"] = total
            statistics[rate] = self._rounded(total / len(rates) if rates else 0.0, "item")
        is_read = _micro(statistics["cer_errors"], statistics["cer_length"]) < 1
        alike = [text.similarity for text in texts]
        mean = self._total(alike) / len(alike) if alike else 1.0
        perfect = sum(_is_perfect(text) for text in texts)
        beyond = sum(
            len(self._split(_normalized(text.text, self._steps["cer"]))) for text in invented
        )
        errors = sum(text.errors["cer"] for text in texts if text.reference)  # others are invented
        return ItemScore(
            statistics
            | self._watched_in(texts)
            | {
                "failures": int(not is_read),
                "read_errors": statistics["cer_errors"] * is_read,
                "read_length": statistics["cer_length"] * is_read,
                "bwer_errors": sum(text.bag_errors for text in texts),
                "similarity": self._rounded(mean, "item"),
                "texts": len(texts),
                "texts_perfect": perfect,
                "well_formed": sum(self._xml and is_xml(each.prediction) for each in texts),
                "characters_invented": beyond,
                "perfect": int(record is not None and perfect == len(texts) and not invented),
                "corrections": errors + beyond,
                "values": statistics["cer_length"],
            },
            compared=(texts, invented),
            not_compared=self._not_compared(answer or {}, prepared.value),
            rewritten=prepared.rewritten or answer is not record,
        )

    def explain(self, score: ItemScore) -> list[FieldMatch]:
        """Return what became of each text of one item, errors first."""
        texts, invented = score.compared
        empty = {text.path for text in texts}
        matches: dict[Outcome, list[FieldMatch]]
        matches = {"spurious": [], "missing": [], "substituted": [], "correct": []}
        for path, text in invented:
            if path not in empty:
                matches["spurious"].append(FieldMatch(path, "spurious", None, text, 0.0))
        for text in texts:
            outcome: Outcome = "correct" if _is_perfect(text) else "substituted"
            if outcome == "substituted" and not text.prediction:
                outcome = "missing"
            elif outcome == "substituted" and not text.reference:
                outcome = "spurious"
            matches[outcome].append(
                FieldMatch(text.path, outcome, text.reference, text.prediction, text.similarity)
            )
        return [match for text in matches.values() for match in text]

    def total(self, column: Sequence[float]) -> float:
        """Added up and rounded once, or plainly from left to right, as `sum` states."""
        return self._total(column)

    def check_totals(self, totals: Mapping[str, float]) -> None:
        """Refuse a run whose ground truths have no text at all.

        Raises:
            HdbenchError: there is no character, or no word, to divide by.
        """
        for rate in RATES:
            if not totals[f"{rate}_length"]:
                raise HdbenchError(
                    "{rate}: the ground truths have no text to divide by in {texts}: name "
                    "the paths of their texts with the option texts",
                    rate=rate,
                    texts=", ".join(self._options["texts"]),
                )

    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """The figures, from the statistics added up over items.

        `cer` and `wer` of items without any text, such as a single one may be, are 0.0 without an
        error, otherwise 1.0.
        """
        texts, items = totals["texts"], totals["items"]
        figures: dict[str, Any] = {}
        read, watched = totals["read_length"], totals["watched"]
        figures["cer"] = _micro(totals["cer_errors"], totals["cer_length"])
        figures["cer_without_failures"] = ratio(totals["read_errors"], read)
        figures["failure_share"] = ratio(totals["failures"], items)
        figures["wer"] = _micro(totals["wer_errors"], totals["wer_length"])
        figures["bwer"] = _micro(totals["bwer_errors"], totals["wer_length"])
        figures["order_gap"] = figures["wer"] - figures["bwer"]
        for rate in RATES:
            figures[f"{rate}_macro"] = ratio(totals[f"{rate}_sum"], texts)
        for rate in RATES:
            figures[f"{rate}_items"] = ratio(totals[rate], items)
        figures["watch_kept"] = ratio(totals["watched_kept"], watched)
        figures["watch_added"] = ratio(1000 * totals["watched_added"], totals["cer_length"])
        figures["similarity"] = ratio(totals["similarity"], items)
        figures["well_formed"] = ratio(totals["well_formed"], texts)
        figures = {name: self._rounded(figure, "run") for name, figure in figures.items()}
        figures |= {
            "cer_without_failures": only_if(read, figures["cer_without_failures"]),
            "watch_kept": only_if(watched, figures["watch_kept"]) if self._watched else None,
            "watch_added": figures["watch_added"] if self._watched else None,
            "well_formed": figures["well_formed"] if self._xml else None,
            "texts": truncated(texts),
            "texts_perfect": truncated(totals["texts_perfect"]),
            "items_perfect": truncated(totals["perfect"]),
            "characters_invented": truncated(totals["characters_invented"]),
        }
        return figures | renamed(figures | {"items": items}, self._renamed)

    def _rounded(self, value: float, level: str) -> float:
        return rounded(value, self._digits[level]) if level in self._digits else value

    def _compare(
        self, answer: dict[str, Any], truth: dict[str, Any]
    ) -> tuple[list[Text], list[Invented]]:
        """The texts that are scored, and those that only the answer has."""
        texts: list[Text] = []
        invented: list[Invented] = []
        for name, fields in self._texts:
            ours: list[Any] = [truth]
            theirs: list[Any] = [answer] if answer else []
            if name is not None:
                ours, theirs = pages_of(truth, name), pages_of(answer, name)
            partner = self._paired(ours, theirs, fields)
            for at, page in enumerate(ours):
                counterpart = theirs[partner[at]] if at in partner else None
                scored, more = page_texts(page, counterpart, _prefix(name, at), fields)
                texts += scored
                invented += more
            for at in sorted(set(range(len(theirs))) - set(partner.values())):
                scored, more = page_texts(None, theirs[at], _prefix(name, at), fields)
                invented += [*more, *(Invented(one.path, one.prediction or "") for one in scored)]
        for text in texts:
            self._judge(text)
            if not text.reference:
                invented.append(Invented(text.path, text.prediction or ""))
        return texts, [text for text in invented if text.text]

    def _not_compared(self, answer: dict[str, Any], truth: dict[str, Any]) -> dict[str, int]:
        """List → how many of the answer's pages are too many to be compared."""
        beyond = {
            name: len(pages_of(answer, name)) - _most_pages(len(pages_of(truth, name)))
            for name, _ in self._texts
            if name is not None and self._aligned
        }
        return {name: number for name, number in beyond.items() if number > 0}

    def _judge(self, text: Text) -> None:
        """Compare a text with its counterpart."""
        is_there = text.prediction is not None
        for rate in RATES:
            steps = self._steps[rate]
            reference = _normalized(text.reference, steps)
            prediction = _normalized(text.prediction or "", steps)
            split = str.split if rate == "wer" else self._split
            ours, theirs = split(reference), split(prediction)
            errors = Levenshtein.distance(ours, theirs)
            worst = min(1.0, errors / len(ours)) if ours else float(bool(theirs))
            text.errors[rate], text.lengths[rate] = errors, len(ours)
            if rate == "wer":
                common = (Counter(ours) & Counter(theirs)).total()
                text.bag_errors = max(len(ours), len(theirs)) - common
            text.rates[rate] = self._rounded(worst if is_there else 1.0, "text")
        if is_there:
            text.similarity = self._rounded(self._alike(text), "text")

    def _watched_in(self, texts: Sequence[Text]) -> dict[str, int]:
        """Count the characters of `watch` that references have, and answers keep and add."""
        if self._watched is None:
            return {}
        total = kept = added = 0
        for text in texts:
            ours, theirs = (
                _normalized(side, self._steps["cer"])
                for side in (text.reference, text.prediction or "")
            )
            total += len(self._watched.pattern.findall(ours))
            added += len(self._watched.pattern.findall(theirs))
            for block in Levenshtein.opcodes(ours, theirs):
                if block.tag == "equal":
                    kept += len(self._watched.pattern.findall(ours, block.src_start, block.src_end))
        return {"watched": total, "watched_kept": kept, "watched_added": added - kept}

    def _alike(self, text: Text) -> float:
        steps = self._steps["similarity"]
        return similarity(
            _normalized(text.reference, steps), _normalized(text.prediction or "", steps)
        )

    def _paired(
        self, ours: Sequence[Any], theirs: Sequence[Any], fields: Mapping[str, str]
    ) -> dict[int, int]:
        """The place of each page → that of its counterpart."""
        if not self._aligned or not ours or not theirs:
            return {at: at for at in range(min(len(ours), len(theirs)))}
        theirs = theirs[: _most_pages(len(ours))]
        import numpy as np  # noqa: PLC0415  slow to import

        from hdbench.scoring.records.pairing import assign  # noqa: PLC0415  with numpy

        alike = np.array(
            [
                [
                    sum(
                        round(1_000 * round(self._alike(text), 3))
                        for text in page_texts(page, other, "", fields)[0]
                    )
                    for other in theirs
                ]
                for page in ours
            ],
            np.int64,
        )
        # As many pairs as there can be, whatever they hold.
        return dict(assign(alike + int(alike.sum()) + 1))


def _most_pages(references: int) -> int:
    """Return how many pages of an answer are compared with so many of the ground truth."""
    return max(1, MAX_PAGE_PAIRS // max(1, references))


def _micro(errors: float, length: float) -> float:
    return ratio(errors, length, 1.0 * (errors > 0))


def _prefix(name: str | None, at: int) -> str:
    return "" if name is None else f"{name}[{at}]."


def _normalized(text: str, steps: Sequence[Normalizer]) -> str:
    for step in steps:
        text = step(text)
    return text


def _is_perfect(text: Text) -> bool:
    return text.errors["cer"] == 0 and text.rates["cer"] == 0


def _as_it_is(text: str) -> str:
    return text


def _graphemes(text: str) -> list[str]:
    import regex  # noqa: PLC0415  seldom needed

    clusters: list[str] = regex.findall(r"\X", text)
    return clusters
