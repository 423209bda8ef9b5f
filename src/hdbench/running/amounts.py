"""Time and money, as people read them."""

CENT = 0.01
MINUTE, HOUR = 60, 3600


def as_time(seconds: float) -> str:
    """A duration.

    Example:
        >>> as_time(90), as_time(3000), as_time(9000)
        ('90 s', '50 min', '2.5 h')
    """
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.1f} h"


def as_usd(cost: float, about: str = "") -> str:
    """An amount of US dollars.

    Args:
        cost: the amount.
        about: a word before it, unless it is less than a cent.

    Example:
        >>> as_usd(1.5, "about "), as_usd(0.001)
        ('about 1.50 USD', 'less than 0.01 USD')
    """
    return f"{about}{cost:.2f} USD" if cost >= CENT else "less than 0.01 USD"
