"""Answers as models write them, made of a record in more than a hundred ways, and texts of none.

A class is a function from a `Case` to a text. Those of `ANSWERS` hold the record, and reading must
give it to the last character; those of `OTHER_FORMATS` hold it in another format than JSON; those
of `NO_ANSWERS` hold no record at all. A class that cannot be made of a case gives None.
"""

import csv
import html
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

Make = Callable[["Case"], str | None]

QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Case:
    """A record, and what the benchmark shows to a model.

    Attributes:
        record: the answer.
        prompt: the benchmark's prompt.
        schema: its JSON Schema of an answer.
        other: another item's record, of the same form.
    """

    record: dict[str, Any]
    prompt: str
    schema: dict[str, Any]
    other: dict[str, Any]

    @property
    def json(self) -> str:
        """The record in one line."""
        return dump(self.record)

    @property
    def lines(self) -> str:
        """The record, indented."""
        return json.dumps(self.record, ensure_ascii=False, indent=2)

    @property
    def list_name(self) -> str | None:
        """The record's one field, where that is a list of objects."""
        name, *others = self.record
        value = self.record[name]
        is_list = isinstance(value, list) and value and isinstance(value[0], dict)
        return name if is_list and not others else None

    @property
    def items(self) -> list[Any]:
        """The objects of the record's one list."""
        return self.record[self.list_name] if self.list_name else []

    @property
    def parts(self) -> list[Any]:
        """What the record can be given in: its objects, or an object for each of its fields."""
        return self.items or [{name: value} for name, value in self.record.items()]

    @property
    def draft(self) -> dict[str, Any]:
        """The same record as a first attempt: each text has another letter, each number is off."""
        return changed(self.record)


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def changed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: changed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [changed(inner) for inner in value]
    if isinstance(value, str):
        return value[:-1] + "x" if value else "x"
    return 1000 if value is None else value + 1


def with_null(value: Any) -> Any:
    """The record with a null for one of its texts."""
    done = False

    def walk(node: Any) -> Any:
        nonlocal done
        if isinstance(node, dict):
            return {key: walk(inner) for key, inner in node.items()}
        if isinstance(node, list):
            return [walk(inner) for inner in node]
        if isinstance(node, str) and not done:
            done = True
            return None
        return node

    return walk(value)


def fence(text: str, language: str = "json", sign: str = "```") -> str:
    return f"{sign}{language}\n{text}\n{sign}"


def quoted(text: str, opening: str, closing: str) -> str | None:
    """JSON with other quotation marks; None where a text holds one of them, or an escape."""
    if any(sign in text for sign in {opening, closing, "\\"}):
        return None
    return QUOTED.sub(lambda match: f"{opening}{match[1]}{closing}", text)


def outside_of_texts(text: str, replaced: dict[str, str]) -> str:
    table = str.maketrans(replaced)
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    return "".join(part if part.startswith('"') else part.translate(table) for part in parts)


def numbered(text: str, form: str) -> str:
    return "\n".join(form.format(n) + line for n, line in enumerate(text.split("\n"), 1))


def prefixed(text: str, prefix: str) -> str:
    return "\n".join(prefix + line for line in text.split("\n"))


def halves(case: Case) -> tuple[Any, Any] | None:
    """The record's list in two, as of the left and the right column."""
    if len(case.items) < 2:
        return None
    middle = len(case.items) // 2
    return (
        {case.list_name: case.items[:middle]},
        {case.list_name: case.items[middle:]},
    )


def of_halves(make: Callable[[Any, Any], str]) -> Make:
    return lambda case: make(*found) if (found := halves(case)) else None


def of_list(make: Callable[[Case], str]) -> Make:
    return lambda case: make(case) if case.items else None


def of_fields(make: Callable[[Case], str]) -> Make:
    """For records of several fields."""
    return lambda case: None if case.items else make(case)


def script(text: str) -> str:
    """JavaScript's form: keys without quotation marks."""
    return re.sub(r'"(\w+)":', r"\1:", text)


def too_deep(case: Case) -> str | None:
    """The last field within the first one that is an object."""
    *names, last = case.record
    first = next((name for name in names if isinstance(case.record[name], dict)), None)
    if first is None:
        return None
    record = {name: case.record[name] for name in names}
    return dump(record | {first: record[first] | {last: case.record[last]}})


def json_in_json(case: Case) -> str:
    return json.dumps(case.json, ensure_ascii=False)


def chat(content: Any, **choice: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    done = {"index": 0, "message": message, "finish_reason": "stop"} | choice
    usage = {"prompt_tokens": 812, "completion_tokens": 0, "total_tokens": 812}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [done]} | {
        "usage": usage
    }


def example_of(case: Case) -> str:
    """The prompt's own block of JSON."""
    return case.prompt[case.prompt.index("{") : case.prompt.rindex("}") + 1]


def template(case: Case, leaf: str | None) -> Any:
    """The record's form with a placeholder for each value; None stands for a field's own name."""

    def walk(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: walk(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, name) for inner in value[:1]] or [leaf or f"<{name}>"]
        return leaf or f"<{name}>"

    return walk(case.record, "value")


FORMS: dict[str, Make] = {
    "plain": lambda c: c.json,
    "indented": lambda c: c.lines,
    "byte order mark": lambda c: f"\ufeff{c.json}",
    "line ends of Windows": lambda c: c.lines.replace("\n", "\r\n"),
    "tabs": lambda c: json.dumps(c.record, ensure_ascii=False, indent="\t"),
    "ASCII only": lambda c: json.dumps(c.record),
    "fence": lambda c: fence(c.lines),
    "bare fence": lambda c: fence(c.lines, ""),
    "fence JSON5": lambda c: fence(c.lines, "json5"),
    "fence of tildes": lambda c: fence(c.lines, "json", "~~~"),
    "fence of four": lambda c: fence(c.lines, "json", "````"),
    "fence in one line": lambda c: f"```json {c.json} ```",
    "fence without an end": lambda c: f"```json\n{c.lines}",
    "fence without a beginning": lambda c: f"{c.lines}\n```",
    "fence in a fence": lambda c: fence(fence(c.lines)),
    "prose before": lambda c: f"Here is what I read:\n\n{c.lines}",
    "prose after": lambda c: f"{c.lines}\n\nI hope this helps! Some words were hard to read.",
    "prose with braces": lambda c: f"The {{sic}} item [1] has a {{stamp}}:\n{c.lines}\nSee [2].",
    "prose and fence": lambda c: f"Sure:\n\n{fence(c.lines)}\n\nAnything else?",
    "heading": lambda c: f"## Result\n\n**JSON**\n\n{fence(c.lines)}",
    "label": lambda c: f"OUTPUT: {c.json}",
    "assignment": lambda c: f"result = {c.json}",
    "JavaScript": lambda c: f"const result = {c.lines};",
    "Python's return": lambda c: fence(f"return {c.json}", "python"),
    "answer tag": lambda c: f"<answer>\n{c.lines}\n</answer>",
    "JSON tag": lambda c: f"<json>{c.json}</json>",
    "box of GLM": lambda c: f"<|begin_of_box|>{c.json}<|end_of_box|>",
    "end of sequence": lambda c: f"{c.json}<|im_end|>",
    "assistant": lambda c: f"assistant\n{c.json}</s>",
    "HTML code": lambda c: f"<pre><code>{c.lines}</code></pre>",
    "list of one": lambda c: f"[{c.json}]",
    "fence in a list of one": lambda c: fence(f"[\n{c.lines}\n]"),
    "text in JSON": json_in_json,
    "text in text in JSON": lambda c: json.dumps(json_in_json(c), ensure_ascii=False),
    "fence in a text in JSON": lambda c: dump(fence(c.lines)),
    "wrapper": lambda c: dump({"answer": c.record}),
    "wrapper in a wrapper": lambda c: dump({"response": {"data": {"result": c.record}}}),
    "wrapper with words": lambda c: dump({"status": "ok", "note": "as asked", "result": c.record}),
    "list in a wrapper": lambda c: dump({"results": [c.record]}),
    "text in a wrapper": lambda c: dump({"answer": c.json}),
    "fence in a wrapper": lambda c: dump({"answer": fence(c.lines)}),
    "chat completion": lambda c: dump(chat(c.json)),
    "response of Gemini's": lambda c: dump(
        {"candidates": [{"content": {"parts": [{"text": fence(c.lines)}]}, "finishReason": "STOP"}]}
    ),
    "response of Claude's": lambda c: dump(
        {"type": "message", "content": [{"type": "text", "text": f"Sure:\n{fence(c.lines)}"}]}
    ),
    "boxed": lambda c: rf"\boxed{{\text{{{c.json}}}}}",
    "Python's list of a text": lambda c: None if "\\" in c.lines else str([c.lines]),
    "tool call with the record": lambda c: dump({"name": "submit", "arguments": c.record}),
    "tool call with a text": lambda c: dump({"name": "submit", "arguments": c.json}),
    "tool call's tag": lambda c: (
        f"<tool_call>\n{dump({'name': 'submit', 'arguments': c.record})}\n</tool_call>"
    ),
    "wrapped with its schema": lambda c: dump({"schema": c.schema, "answer": c.record}),
    "wrapped with thoughts": lambda c: dump({"thinking": f"So {c.json[:40]}", "answer": c.record}),
    "bare list": of_list(lambda c: dump(c.items)),
    "bare list in a fence": of_list(lambda c: fence(dump(c.items))),
    "bare list in prose": of_list(lambda c: f"The items [2]: {dump(c.items)} Done."),
    "list under another name": of_list(lambda c: dump({"results": c.items})),
}

SEVERAL: dict[str, Make] = {
    "parts as JSON Lines": lambda c: "\n".join(map(dump, c.parts)),
    "parts as indented JSON": lambda c: "\n".join(json.dumps(part, indent=2) for part in c.parts),
    "parts with commas": lambda c: ",\n".join(map(dump, c.parts)),
    "parts with commas and an end": lambda c: ",\n".join(map(dump, c.parts)) + ",",
    "parts with blank lines": lambda c: "\n\n".join(map(dump, c.parts)),
    "parts without anything between": lambda c: "".join(map(dump, c.parts)),
    "parts in a fence each": lambda c: "\n\n".join(fence(dump(part)) for part in c.parts),
    "parts in one fence": lambda c: fence("\n".join(map(dump, c.parts)), "jsonl"),
    "parts with headings": lambda c: "\n\n".join(
        f"### Part {number}\n{fence(dump(part))}" for number, part in enumerate(c.parts, 1)
    ),
    "parts with numbers": lambda c: "\n".join(
        f"{number}. {dump(part)}" for number, part in enumerate(c.parts, 1)
    ),
    "parts as bullets": lambda c: "\n".join(f"- {dump(part)}" for part in c.parts),
    "list of parts": lambda c: dump(c.parts),
    "list of parts in a fence": lambda c: fence(json.dumps(c.parts, indent=2)),
    "parts as texts in a list": lambda c: dump([dump(part) for part in c.parts]),
    "two columns": of_halves(lambda a, b: f"{dump(a)}\n{dump(b)}"),
    "two columns in a fence each": of_halves(
        lambda a, b: f"Left column:\n{fence(dump(a))}\nRight column:\n{fence(dump(b))}"
    ),
    "two columns in a list": of_halves(lambda a, b: dump([a, b])),
    "two columns in a wrapper": of_halves(lambda a, b: dump({"left": a, "right": b})),
    "two bare lists": of_halves(
        lambda a, b: "\n".join(dump(value) for half in (a, b) for value in half.values())
    ),
    "two pages": of_halves(lambda a, b: dump([{"page": 1} | a, {"page": 2} | b])),
    "two pages as JSON Lines": of_halves(
        lambda a, b: f"{dump({'page': 1} | a)}\n{dump({'page': 2} | b)}"
    ),
    "a page that has nothing": of_fields(
        lambda c: f"Page 1:\n{c.json}\nPage 2:\n{dump(dict.fromkeys(c.record))}"
    ),
    "two halves of the fields": of_fields(
        lambda c: "\n".join(
            dump(dict(half)) for half in (list(c.record.items())[:2], list(c.record.items())[2:])
        )
    ),
}

THOUGHTS = {
    "think": ("<think>\n", "\n</think>\n\n"),
    "thinking": ("<thinking>", "</thinking>"),
    "thought": ("<thought>\n", "\n</thought>\n"),
    "reasoning": ("<reasoning>\n", "\n</reasoning>\n"),
    "scratchpad": ("<scratchpad>\n", "\n</scratchpad>\n"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "without a beginning": ("", "\n</think>\n"),
    "channels": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
}

ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|start|>assistant<|channel|>final"
CALL = (
    "<|start|>assistant<|channel|>commentary to=functions.zoom <|constrain|>json<|message|>"
    '{"path": "page.png"}<|call|>'
)

TURNS: dict[str, Make] = {
    "Harmony, final": lambda c: f"{FINAL} <|constrain|>json<|message|>{c.json}<|return|>",
    "Harmony, from its channel on": lambda c: f"<|channel|>final<|message|>{c.lines}",
    "Harmony, thoughts": lambda c: (
        f"{ANALYSIS}Is it {dump(c.draft)}?<|end|>{FINAL}<|message|>{c.json}<|return|>"
    ),
    "Harmony, straight after thoughts": lambda c: f"{ANALYSIS}{dump(c.draft)}<|end|>{c.json}",
    "Harmony, a call": lambda c: f"{CALL}{FINAL}<|message|>{c.json}<|return|>",
    "Harmony, a call after thoughts": lambda c: (
        f"{ANALYSIS}So.<|end|>{CALL}{ANALYSIS}{dump(c.draft)}<|end|>{FINAL}<|message|>{c.json}"
    ),
    "Harmony, a fence": lambda c: f"{FINAL}<|message|>Sure:\n{fence(c.lines)}<|return|>",
    "Harmony, another turn": lambda c: (
        f"{FINAL}<|message|>{c.json}<|return|><|start|>user<|message|>No, {dump(c.draft)}<|end|>"
    ),
    "Harmony, its whole talk": lambda c: (
        f"<|start|>system<|message|>Read.<|end|><|start|>user<|message|>{c.prompt}<|end|>"
        f"<|start|>assistant{ANALYSIS}{dump(c.draft)}<|end|>{FINAL}<|message|>{c.json}<|return|>"
    ),
    "Harmony without tokens": lambda c: f"analysisIs it {dump(c.draft)}?assistantfinal{c.json}",
    "Harmony without its first token": lambda c: (
        f"analysis<|message|>{dump(c.draft)}<|end|>{FINAL}<|message|>{c.json}"
    ),
    "a whole talk of Qwen": lambda c: (
        f"<|im_start|>user\n{c.prompt}<|im_end|>\n<|im_start|>assistant\n{c.json}<|im_end|>"
    ),
    **{
        f"another turn after {end}": lambda c, end=end: f"{c.json}{end}\nuser\n{dump(c.draft)}"
        for end in (
            "<|im_end|>",
            "<|eot_id|>",
            "</s>",
            "<end_of_turn>",
            "<|endoftext|>",
            "<|return|>",
            "<|end|>",
        )
    },
}

LAST: dict[str, Make] = {
    **{
        f"thoughts, {name}": lambda c, tags=tags: (
            f"{tags[0]}Is it {dump(c.draft)}?{tags[1]}{c.json}"
        )
        for name, tags in THOUGHTS.items()
    },
    "draft": lambda c: f"First attempt:\n{dump(c.draft)}\nCorrected:\n{c.json}",
    "draft in a fence": lambda c: f"Draft:\n{fence(dump(c.draft))}\nFinal:\n{fence(c.lines)}",
    "two drafts": lambda c: f"{dump(changed(c.draft))}\nNo: {dump(c.draft)}\nSo: {c.json}",
    "fuller draft": lambda c: f"{dump(c.draft)}\nBetter:\n{dump(with_null(c.record))}",
    "record with a null after an example": lambda c: f"{c.prompt}\n\n{dump(with_null(c.record))}",
    "half a draft": lambda c: f"{c.json[: len(c.json) // 2]}\n\nLet me begin again:\n\n{c.json}",
    "part of a draft": lambda c: f"It begins {dump(c.parts[0])}. As a whole:\n{c.json}",
    "example": lambda c: f"As in the example:\n{example_of(c)}\n\nI read:\n{c.json}",
    "example in a fence": lambda c: f"{fence(example_of(c))}\n{fence(c.lines)}",
    "prompt": lambda c: f"{c.prompt}\n{c.json}",
    "prompt and prose": lambda c: f"{c.prompt}\n\nassistant: Here it is.\n{fence(c.lines)}",
    "end of the prompt": lambda c: f"{c.prompt[len(c.prompt) // 3 :]}\n{c.json}",
    "quoted prompt": lambda c: f"{prefixed(c.prompt, '> ')}\n\n{c.json}",
    "schema": lambda c: f"The schema is {dump(c.schema)}. The answer is {c.json}",
    "schema in a fence": lambda c: f"{fence(json.dumps(c.schema, indent=2))}\n{fence(c.lines)}",
    "template": lambda c: f"The form: {dump(template(c, 'string'))}\nThe answer: {c.json}",
    "template of names": lambda c: f"{dump(template(c, None))}\n{c.json}",
    "note after it": lambda c: f'{c.json}\n{{"confidence": 0.93}}',
    "note before it": lambda c: f'{{"confidence": 0.93}}\n{c.json}',
    "usage after it": lambda c: f'{c.json}\n{{"finish_reason": "stop", "usage": {{"total": 9}}}}',
    "message before it": lambda c: f'{{"message": "Here it is."}}\n{c.json}',
    "the same twice": lambda c: f"{c.json}\n\n{c.json}",
    "the same in a fence again": lambda c: f"{c.json}\n{fence(c.lines)}",
    "again, cut off": lambda c: f"{c.json}\n\n{c.json}\n\n{c.json[: 2 * len(c.json) // 3]}",
    "part quoted after it": of_list(
        lambda c: f"{fence(c.lines)}\nI was unsure about {dump(c.items[0])}."
    ),
    "parts quoted after it": of_list(
        lambda c: f"{c.json}\nHard to read:\n{fence(dump(c.items[:2]))}" if c.items[3:] else None
    ),
    "list of drafts": lambda c: dump([c.draft, c.record]),
    "named drafts": lambda c: dump({"draft": c.draft, "final": c.record}),
}

DAMAGED: dict[str, Make] = {
    "comma at the end": lambda c: c.lines[:-2] + ",\n}",
    "commas at all ends": lambda c: re.sub(r"(?<=[^\s{\[,])\n(\s*)([}\]])", r",\n\1\2", c.lines),
    "missing comma": lambda c: c.lines.replace(",\n", "\n", 1),
    "missing commas": lambda c: re.sub(r",\n", "\n", c.lines),
    "doubled comma": lambda c: c.lines.replace(",\n", ",,\n", 1),
    "comment": lambda c: c.lines.replace("\n", "  // as printed\n", 1),
    "comment in C": lambda c: c.lines.replace("\n", " /* as printed */\n", 1),
    "comment in Python": lambda c: c.lines.replace("\n", "  # as printed\n", 1),
    "single quotes": lambda c: quoted(c.lines, "'", "'"),
    "Python": lambda c: str(c.record),
    "Python in a fence": lambda c: fence(str(c.record), "python"),
    "keys without quotes": lambda c: script(c.lines),
    "JavaScript with a comma": lambda c: script(c.lines[:-2]) + ",\n}",
    "semicolon": lambda c: f"{c.json};",
    "ellipsis": lambda c: f"{c.lines}\n...",
    "German quotes": lambda c: quoted(c.lines, "„", "“"),
    "English quotes": lambda c: quoted(c.lines, "“", "”"),
    "English single quotes": lambda c: quoted(c.lines, "‘", "’"),
    "German single quotes": lambda c: quoted(c.lines, "‚", "‘"),
    "closing quotes only": lambda c: quoted(c.lines, "”", "”"),
    "French quotes": lambda c: quoted(c.lines, "«", "»"),
    "quotes of two sorts": lambda c: quoted(c.lines, "„", "”"),
    "quotes of LaTeX": lambda c: quoted(c.lines, "``", "''"),
    "typographic quotes in a fence": lambda c: (
        None if (text := quoted(c.lines, "“", "”")) is None else fence(text)
    ),
    "full-width marks": lambda c: outside_of_texts(c.lines, {":": "：", ",": "，"}),
    "full-width brackets": lambda c: outside_of_texts(
        c.lines, {":": "：", ",": "，", "{": "｛", "}": "｝", "[": "［", "]": "］"}
    ),
    "full-width quotes": lambda c: quoted(c.lines, "＂", "＂"),
    "full-width throughout": lambda c: (
        None if (text := quoted(c.lines, "“", "”")) is None else re.sub(r"”(\s*):", r"”\1：", text)
    ),
    "escaped underscores": lambda c: (
        None
        if not re.search(r'\w_\w+":', c.lines)
        else re.sub(r'(?<=\w)_(?=\w+":)', r"\_", c.lines)
    ),
    "escaped underscores in a fence": lambda c: (
        None
        if not re.search(r'\w_\w+":', c.lines)
        else fence(re.sub(r'(?<=\w)_(?=\w+":)', r"\_", c.lines))
    ),
    "escaped brackets": lambda c: outside_of_texts(c.lines, {"[": r"\[", "]": r"\]"}),
    "quoted in Markdown": lambda c: prefixed(c.lines, "> "),
    "quoted without blanks": lambda c: prefixed(c.lines, ">"),
    "quoted fence": lambda c: prefixed(fence(c.lines), "> "),
    "quoted after prose": lambda c: f"I read:\n\n{prefixed(c.lines, '> ')}\n\nThat is all.",
    "added lines": lambda c: prefixed(c.lines, "+ "),
    "added lines without blanks": lambda c: prefixed(c.lines, "+"),
    "lines of a table": lambda c: prefixed(c.lines, "| "),
    "commented lines": lambda c: prefixed(c.lines, "# "),
    "commented lines of C": lambda c: prefixed(c.lines, "// "),
    "line numbers": lambda c: numbered(c.lines, "{} "),
    "line numbers with points": lambda c: numbered(c.lines, "{}. "),
    "line numbers with colons": lambda c: numbered(c.lines, "{}: "),
    "line numbers with bars": lambda c: numbered(c.lines, "{:>4} | "),
    "line numbers with tabs": lambda c: numbered(c.lines, "{}\t"),
    "line numbers in a fence": lambda c: fence(numbered(c.lines, "{:>3}  ")),
    "escaped quotes": lambda c: c.json.replace("\\", "\\\\").replace('"', '\\"'),
    "escaped lines": lambda c: json.dumps(c.lines, ensure_ascii=False)[1:-1],
    "escaped twice": lambda c: json.dumps(
        json.dumps(c.lines, ensure_ascii=False)[1:-1], ensure_ascii=False
    )[1:-1],
    "escaped in a fence": lambda c: fence(json.dumps(c.lines, ensure_ascii=False)[1:-1]),
    "escaped in prose": lambda c: f"The answer: {dump(c.lines)} That is all.",
    "escaped as ASCII": lambda c: json.dumps(c.lines)[1:-1],
    "missing first brace": lambda c: c.lines[1:],
    "missing first brace in one line": lambda c: c.json[1:],
    "missing first brace in a fence": lambda c: fence(c.lines[1:].lstrip()),
    "missing first brace after prose": lambda c: f"I read:\n{c.lines[1:].lstrip()}",
    "missing both braces": lambda c: c.lines[1:-1].strip(),
    "missing last brace": lambda c: c.lines[:-1],
    "missing last brace in a fence": lambda c: fence(c.lines[:-1]),
    "brace too many at the end": lambda c: c.lines + "}",
    "braces doubled": lambda c: f"{{{c.lines}}}",
    "HTML entities": lambda c: html.escape(c.lines),
    "entities of quotes": lambda c: c.lines.replace("&", "&amp;").replace('"', "&quot;"),
    "numeric entities": lambda c: c.lines.replace("&", "&#38;").replace('"', "&#34;"),
    "entities in HTML": lambda c: f"<pre><code>{html.escape(c.lines)}</code></pre>",
    "entities twice": lambda c: html.escape(html.escape(c.lines)),
    "colours": lambda c: re.sub(r'("\w+"):', "\x1b[34m\\1\x1b[0m:", c.lines),
    "ends of lines in HTML": lambda c: c.lines.replace("\n", "<br>\n"),
    "quotation marks doubled": lambda c: (
        None if '""' in c.json or "\\" in c.json else c.json.replace('"', '""')
    ),
    "keys with blanks": lambda c: (
        None if re.search(r'"editor"', c.json) else re.sub(r'"(\w+)":', r'"\1 ":', c.json)
    ),
    "field too deep": of_fields(too_deep),
    "hard blanks": lambda c: re.sub(
        r"^ +", lambda match: "\u00a0" * len(match[0]), c.lines, flags=re.MULTILINE
    ),
    "zero-width blanks": lambda c: c.lines.replace("\n", "\n\u200b"),
    "NaN": lambda c: (
        None if "null" not in c.lines else re.sub(r"(?<=[:\[,]) ?null\b", " NaN", c.lines)
    ),
    "None": lambda c: None if "null" not in c.lines else re.sub(r": null\b", ": None", c.lines),
    "undefined": lambda c: (
        None if "null" not in c.lines else re.sub(r": null\b", ": undefined", c.lines)
    ),
    "line ends in texts": lambda c: None if "\\n" not in c.json else c.json.replace("\\n", "\n"),
    "percent-encoded keys": lambda c: (
        None if not re.search(r'\w_\w+":', c.json) else re.sub(r'(?<=\w)_(?=\w+":)', "%5F", c.json)
    ),
}

ANSWERS = FORMS | SEVERAL | TURNS | LAST | DAMAGED


def as_xml(value: Any, name: str) -> str:
    if isinstance(value, dict):
        inner = "".join(as_xml(child, key) for key, child in value.items())
    elif isinstance(value, list):
        return "".join(as_xml(child, name) for child in value)
    else:
        inner = html.escape("" if value is None else str(value))
    return f"<{name}>{inner}</{name}>\n"


def leaves(value: Any, path: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [leaf for key, each in value.items() for leaf in leaves(each, f"{path}.{key}")]
    if isinstance(value, list):
        return [leaf for n, each in enumerate(value, 1) for leaf in leaves(each, f"{path}.{n}")]
    text = "" if value is None else str(value)
    return [(path.removeprefix("."), text.replace("\n", " ").replace("|", "/"))]


def as_table(case: Case) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in leaves(case.record))
    return f"| Field | Value |\n|---|---|\n{rows}"


def as_csv(case: Case) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["field", "value"])
    writer.writerows(leaves(case.record))
    return text.getvalue()


def as_yaml(case: Case) -> str:
    return yaml.safe_dump(
        case.record, allow_unicode=True, sort_keys=False, default_flow_style=False
    )


OTHER_FORMATS: dict[str, tuple[str, Make]] = {
    "XML": ("format", lambda c: as_xml(c.record, "record")),
    "XML with a declaration": (
        "format",
        lambda c: f'<?xml version="1.0"?>\n{as_xml(c.record, "record")}',
    ),
    "XML in a fence": ("format", lambda c: fence(as_xml(c.record, "record"), "xml")),
    "XML after prose": ("format", lambda c: f"As XML:\n\n{as_xml(c.record, 'record')}"),
    "YAML": ("format", as_yaml),
    "YAML in a fence": ("format", lambda c: fence(as_yaml(c), "yaml")),
    "YAML with a marker": ("format", lambda c: f"---\n{as_yaml(c)}"),
    "YAML after prose": ("format", lambda c: f"As YAML:\n\n{fence(as_yaml(c), 'yaml')}"),
    "Markdown table": ("format", as_table),
    "Markdown table after prose": ("format", lambda c: f"What I read:\n\n{as_table(c)}\n\nDone."),
    "Markdown table in a fence": ("format", lambda c: fence(as_table(c), "markdown")),
    "CSV": ("format", as_csv),
    "CSV in a fence": ("format", lambda c: fence(as_csv(c), "csv")),
    "HTML table": (
        "format",
        lambda c: (
            "<table>\n"
            + "".join(
                f"<tr><th>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>\n"
                for n, v in leaves(c.record)
            )
            + "</table>"
        ),
    ),
}
"""Class → the kind under which it is counted, and how it is made."""

OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
TOOL = {"name": "read_image", "arguments": {"path": "page.png", "zoom": 2}}
ANTHROPIC = {"id": "msg_1", "type": "message", "role": "assistant", "content": []} | {
    "stop_reason": "max_tokens",
    "usage": {"input_tokens": 9, "output_tokens": 0},
}
GEMINI = {"candidates": [{"finishReason": "SAFETY", "index": 0}], "modelVersion": "m"}
OLLAMA = {"model": "m", "created_at": "2026-01-01", "response": "", "done": True}

NOTHING: dict[str, tuple[str, str]] = {
    "a message": ("message", '{"message": "I cannot read this image."}'),
    "a message in a fence": ("message", fence('{"message": "No image was given."}')),
    "a message with its status": (
        "message",
        '{"status": "error", "message": "The image is blurred.", "code": 422}',
    ),
    "an error": ("message", '{"type": "error", "message": "timeout"}'),
    "an error of Anthropic's": ("message", dump({"type": "error", "error": OVERLOADED})),
    "an error of OpenAI's": (
        "message",
        dump({"error": {"message": "Rate limit", "type": "requests", "code": None}}),
    ),
    "an error in a fence": ("message", fence('{"error": "no image", "code": 400}')),
    "a detail": ("message", '{"detail": "Not Found"}'),
    "a refusal": ("message", '{"refusal": "I can\'t help with identifying people."}'),
    "a reason for the end": ("message", '{"finish_reason": "length"}'),
    "a response without content": ("message", dump(chat(None, finish_reason="length"))),
    "a response with empty content": ("message", dump(chat(""))),
    "a response of Anthropic's": ("message", dump(ANTHROPIC)),
    "a response of Gemini's": ("message", dump(GEMINI)),
    "a response of Ollama's": ("message", dump(OLLAMA)),
    "usage": ("message", '{"usage": {"prompt_tokens": 8, "completion_tokens": 0}}'),
    "a tool call": ("message", dump(TOOL)),
    "a tool call in a fence": ("message", fence(dump(TOOL))),
    "a tool call's tag": ("message", f"<tool_call>\n{dump(TOOL)}\n</tool_call>"),
    "tool calls": (
        "message",
        dump({"tool_calls": [{"id": "1", "type": "function", "function": TOOL}]}),
    ),
    "a call of a function": ("message", dump({"function_call": TOOL})),
    "a refusal in prose": ("text", "I'm sorry, but I can't read this image."),
    "prose with braces": ("text", "The {sic} page has [two] columns {see [1]}."),
    "prose with an empty fence": ("text", f"Here it is:\n{fence('')}"),
    "a page of a server": (
        "format",
        "<html><head><title>502 Bad Gateway</title></head><body></body></html>",
    ),
    "a traceback": (
        "text",
        'Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: {}',
    ),
    "boxes": ("other", '[{"bbox_2d": [3, 4, 50, 60], "label": "stamp"}]'),
    "numbers": ("other", "[[1, 2], [3, 4]]"),
    "a number": ("other", "17"),
    "a caption": ("other", '{"caption": "An old card with a stamp."}'),
    "a caption with a box": ("other", '{"caption": "A card", "boxes": [[1, 2, 3, 4]]}'),
    "parts of a response": ("message", dump(ANTHROPIC | {"content": [{"type": "text"}]})),
}
"""Class → the kind under which it is counted, and the text."""

NO_ANSWERS: dict[str, tuple[str, Make]] = {
    "the prompt": ("repeated", lambda c: c.prompt),
    "the prompt in a fence": ("repeated", lambda c: fence(c.prompt, "")),
    "the prompt in JSON": ("repeated", lambda c: dump({"prompt": c.prompt})),
    "the prompt as a text": ("repeated", lambda c: dump(c.prompt)),
    "the prompt as a message": (
        "message",
        lambda c: dump({"messages": [{"role": "user", "content": c.prompt}]}),
    ),
    "the prompt twice": ("repeated", lambda c: f"{c.prompt}\n{c.prompt}"),
    "the prompt quoted": ("repeated", lambda c: prefixed(c.prompt, "> ")),
    "the prompt after prose": ("repeated", lambda c: f"The task is:\n\n{c.prompt}\n\nI begin."),
    "the prompt's end": ("repeated", lambda c: c.prompt[c.prompt.index("{") :]),
    "the prompt cut off": ("repeated", lambda c: c.prompt[: c.prompt.rindex("}") - 9]),
    "the prompt's example": ("repeated", example_of),
    "the prompt's example in a fence": ("repeated", lambda c: fence(example_of(c))),
    "the prompt's example twice": ("repeated", lambda c: f"{example_of(c)}\n{example_of(c)}"),
    "the prompt's example wrapped": ("repeated", lambda c: f'{{"answer": {example_of(c)}}}'),
    "the template": ("repeated", lambda c: dump(template(c, "string"))),
    "the template in a fence": ("repeated", lambda c: fence(dump(template(c, "string")))),
    "the template wrapped": ("repeated", lambda c: dump({"answer": template(c, "string")})),
    "the template of names": ("repeated", lambda c: dump(template(c, None))),
    "the template of dots": ("repeated", lambda c: dump(template(c, "..."))),
    "the template of dots in one sign": ("repeated", lambda c: dump(template(c, "…"))),
    "the template of words": ("repeated", lambda c: dump(template(c, "string or empty string"))),
    "the template with types bare": (
        "repeated",
        lambda c: dump(template(c, "string")).replace('"string"', "string"),
    ),
    "the template of brackets": ("repeated", lambda c: dump(template(c, "[text]"))),
    "the schema": ("repeated", lambda c: dump(c.schema)),
    "the schema in a fence": ("repeated", lambda c: fence(json.dumps(c.schema, indent=2))),
    "the schema after prose": ("repeated", lambda c: f"I shall use {dump(c.schema)}."),
    "the schema wrapped": ("repeated", lambda c: dump({"schema": c.schema})),
    "the schema named": (
        "repeated",
        lambda c: dump(
            {"type": "json_schema", "json_schema": {"name": "answer", "schema": c.schema}}
        ),
    ),
    "the schema as a text": ("repeated", lambda c: dump(dump(c.schema))),
    "bare properties": ("repeated", lambda c: dump(properties(c.schema))),
    "bare properties in a fence": ("repeated", lambda c: fence(dump(properties(c.schema)))),
    "bare properties of types": (
        "repeated",
        lambda c: dump({name: {"type": "string"} for name in c.record}),
    ),
    "thoughts alone": ("thoughts", lambda c: f"<think>It may be {c.json}</think>"),
    "Harmony, thoughts alone": ("thoughts", lambda c: f"{ANALYSIS}It may be {c.json}"),
    "Harmony, a call alone": ("thoughts", lambda c: f"{ANALYSIS}{c.json}<|end|>{CALL}"),
    "reasoning only": (
        "thoughts",
        lambda c: dump({"choices": [{"message": {"content": "", "reasoning_content": c.json}}]}),
    ),
    "reasoning in a field": ("thoughts", lambda c: dump({"reasoning_content": fence(c.json)})),
    "thoughts that never end": ("thoughts", lambda c: f"<think>It may be {c.json}"),
}
"""Class → the kind under which it is counted, and how it is made."""


def properties(schema: dict[str, Any]) -> dict[str, Any]:
    """The fields of a schema, of its first form."""
    node = schema
    while "properties" not in node:
        node = node["anyOf"][0]
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return node["properties"]
