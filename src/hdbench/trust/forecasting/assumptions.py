"""How fast people work, as long as nobody has measured it."""

KEYSTROKES_PER_MINUTE = 214.0
"""0.28 s for each key: an average typist, at 40 words a minute; see `PACE_SOURCE`."""

SECONDS_PER_LOOK = 2.7
"""Twice 1.35 s of mental preparation, to find a value on the image and to compare it; see
`PACE_SOURCE`. That these two are enough is our assumption: reading faded handwriting takes longer,
and looking at values that are empty on both sides less."""

PACE_SOURCE = (
    "Card, Moran and Newell, The keystroke-level model for user performance time with interactive "
    "systems, Communications of the ACM 23(7), 1980"
)
"""Where both are from."""
