r"""The answer in what a model wrote: without its thoughts, its calls and further turns.

Harmony, the format of `gpt-oss`, has messages in channels: `analysis` for thoughts, `commentary`
for calls, and `final` for the answer: `<|start|>assistant<|channel|>final<|message|>…<|return|>`.
"""

import re

_THOUGHTS = "(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
THOUGHT = re.compile(
    rf"(?P<end></{_THOUGHTS}>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>)"
    rf"|<{_THOUGHTS}>|◁think▷|\[THINK\]|<\|begin_of_thought\|>",
    re.IGNORECASE,
)
"""The tags around thoughts: those of many models, of Kimi and of Magistral."""

BOUNDARY = re.compile(
    r"""
    (?P<end> </s> | <end_of_turn> | <eos> | <｜end▁of▁sentence｜>
        | <\|(?:im_end|eot_id|eom_id|end|return|call|endoftext|end_of_text|end_of_turn)\|> )
    | (?: (?:<\|(?:start|im_start|start_header_id)\|>|<start_of_turn>) \s* (?P<role>\w*)
        | (?:<\|channel\|>|\A(?=[a-z]{5,10}<\|message\|>)) \s* (?P<channel>\w*) )
        (?: [^<{\n]{0,200} (?=<\|(?:channel|constrain|message)\|>) )?
    | <\|constrain\|> \s* \w{0,20} | <\|(?:message|end_header_id)\|>
    """,
    re.VERBOSE,
)
"""Where a turn ends, and what comes before the next: whose it is, or its channel."""


def answer_in(text: str) -> str:
    """Return the answer in a text: of several turns the first, and of several channels `final`.

    Returns:
        An empty text if there are only thoughts, calls, and what others say.

    Example:
        >>> answer_in("<think>A card.</think>Stellingen<|im_end|><|im_start|>user")
        'Stellingen'
        >>> answer_in("<|channel|>analysis<|message|>A card.<|end|>Stellingen")
        'Stellingen'
    """
    if text.startswith(("analysis", "commentary")):  # Harmony without its tokens
        text = text.partition("assistantfinal")[2] or text
    role = channel = answer = ""
    start, struck = 0, text.find("<s>", 1)
    for boundary in (*BOUNDARY.finditer(text), None):
        if boundary and boundary[0] == "</s>" and -1 < struck < boundary.start():
            continue  # a tag of HTML
        part = text[start : boundary.start() if boundary else None]
        is_spoken = role in ("", "assistant", "model") and channel in ("", "final")
        if is_spoken and part.strip() not in ("", "assistant"):
            answer = part if channel else answer or part
            if channel:
                break
        if boundary:
            start = boundary.end()
            if boundary["end"] or boundary["role"] is not None:
                role, channel = boundary["role"] or "", ""
            channel = boundary["channel"] or channel
    return _without_thoughts(answer)


def _without_thoughts(text: str) -> str:
    """Return the text outside thoughts; a missing tag counts as at the text's beginning or end."""
    kept: list[str] = []
    position, thinking = 0, False
    for tag in THOUGHT.finditer(text):
        if tag["end"]:
            if not thinking:
                kept.clear()
            position, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[position : tag.start()])
            thinking = True
    return "\n".join(filter(None, kept if thinking else [*kept, text[position:]]))
