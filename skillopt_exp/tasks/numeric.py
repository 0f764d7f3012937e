"""Reading numbers out of text, and when two of them are the same."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext

from skillopt_exp.tasks.normalise import unify

TOLERANCE = Decimal("1e-9")
"""Relative difference at which two numbers that are not both whole count as equal."""

# Without traps an absurd exponent becomes infinity or NaN, which is then no number.
_ARITHMETIC = Context(prec=60, Emax=999_999, Emin=-999_999, traps=[])

_LETTER = "A-Za-zÀ-ɏ"
_CURRENCY = r"[$€£¥₹₩₽]"
_SCALES = {
    "thousand": Decimal(10) ** 3,
    "million": Decimal(10) ** 6,
    "billion": Decimal(10) ** 9,
    "trillion": Decimal(10) ** 12,
}

_FACTORS = frozenset(Decimal(10) ** power for power in range(1, 13))

_SPACED_THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2007\u2009\u202f'’_](?=\d{3}(?!\d))")
# Blanks between thousands count where no other digit could make them a list.
_NOTHING_BUT_BLANK_THOUSANDS = re.compile(r"(\D*)(?<!\d)(\d{1,3}(?: \d{3})+)((?:\.\d+)?\D*)", re.DOTALL)
_SUPERSCRIPT = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\{(\d{1,30})\}\{(\d{1,30})\}")
_CURRENCY_CODE = re.compile(r"\b(?:USD|US|EUR|GBP|CHF|JPY|CNY|RMB|INR|Rs)(?=\d)")

_NUMBER = re.compile(
    rf"""
    (?: (?<![{_LETTER}\d)\]_]) (?P<sign>[-+]) (?:\s?{_CURRENCY}\s?)? )?
    (?<![{_LETTER}\d_^])                                  # the 2 of CO2 or km^2 is no number
    (?:
        (?P<ten>10) (?:\^|\*\*) \{{? (?P<ten_power>[-+]?\d++)
      |
        (?<!/) (?: (?P<whole>\d{{1,4}}+) \s )? (?P<top>\d++) \s? / \s? (?P<bottom>\d++) (?! \s?/\s?\d )
      |
        (?:
            (?P<european>   \d{{1,3}}(?:\.\d{{3}})++,\d++ (?![\d,]) )
          | (?P<grouped>    \d{{1,3}}(?:,\d{{2,3}})*,\d{{3}} (?!\d) (?:\.\d++)? )
          | (?P<comma>      (?<!\d,) \d++,\d{{1,2}} (?!\d|,\d) )
          | (?P<plain>      \d++ (?:\.\d++)? | (?<![.]) \.\d++ )
        )
        (?:
            [eE] (?P<exponent>[-+]?\d++)
          | \s? (?:[x×*·]|\\times) \s? 10 (?:\^|\*\*) \{{? (?P<power>[-+]?\d++)
          | \s? (?P<scale>thousand|million|billion|trillion) (?![{_LETTER}])
        )?
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written, with its value (always finite)."""

    text: str
    value: Decimal


def numbers(text: str) -> tuple[Number, ...]:
    """The numbers in ``text``, in order. Never raises; what has no finite value is left out.

    Read are thousands separators (also Indian groups, thin spaces and apostrophes), a decimal comma
    where it cannot separate thousands, signs (a minus between two digits is a range or a difference,
    no sign), fractions and mixed numbers, powers of ten, and ``thousand`` to ``trillion``. Currency,
    percent signs and units are left out, so 50% reads as 50. Number words are not read.

    >>> [str(number.value) for number in numbers("from -$1,250.50 to 3/4, or 2.5 × 10³ km²")]
    ['-1250.50', '0.75', '2.5E+3']
    """
    return tuple(_read(text))


def sole_number(text: str) -> Number | None:
    """The one number of ``text``; None when there is none, or more than one.

    >>> sole_number("$1,450 a month").value, sole_number("10:30")
    (Decimal('1450'), None)
    """
    found = numbers(text)
    return found[0] if len(found) == 1 else None


def same_number(one: Decimal, other: Decimal) -> bool:
    """Whether two finite numbers are equal: whole ones exactly, others within ``TOLERANCE``.

    >>> same_number(Decimal("0.333333333333"), Decimal(1) / 3)
    True
    >>> same_number(Decimal(10**12), Decimal(10**12 + 1))
    False
    """
    if one == other:
        return True
    with localcontext(_ARITHMETIC):
        if one == one.to_integral_value() and other == other.to_integral_value():
            return False
        return abs(one - other) <= TOLERANCE * max(abs(one), abs(other))


def miss(wanted: Number, said: Sequence[Number]) -> str:
    """In words, how the last number of ``said`` (at least one) misses ``wanted``.

    >>> miss(numbers("1450")[0], numbers("1.45")), miss(numbers("3.14")[0], numbers("3.1416"))
    ('too small by a factor of 1000', 'equal when rounded to the decimals expected')
    """
    last = said[-1].value
    if any(same_number(number.value, wanted.value) for number in said):
        return "the expected number is there, but the last number is what counts"
    if same_number(last, wanted.value.copy_negate()):
        return "the sign is wrong"
    with localcontext(_ARITHMETIC):
        factor = last / wanted.value if wanted.value else Decimal(0)
        if factor in _FACTORS:
            return f"too large by a factor of {factor:f}"
        if factor and 1 / factor in _FACTORS:
            return f"too small by a factor of {1 / factor:f}"
        if last.quantize(wanted.value) == wanted.value:
            return "equal when rounded to the decimals expected"
        distance = abs(last - wanted.value)
    return f"too {'high' if last > wanted.value else 'low'} by {distance:.10g}"


def _read(text: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(_prepared(text)):
        with localcontext(_ARITHMETIC):
            value = _value(match)
        if value.is_finite():
            yield Number(match[0].strip(), value)


def _prepared(text: str) -> str:
    """``text`` with one way to write what has several; superscripts before NFKC makes digits of them."""
    joined = _SPACED_THOUSANDS.sub("", text)
    raised = _SUPERSCRIPT.sub(lambda match: f"^{match[0]}", joined)
    unified = _CURRENCY_CODE.sub(" ", _LATEX_FRACTION.sub(r" \1/\2", unify(raised)))
    alone = _NOTHING_BUT_BLANK_THOUSANDS.fullmatch(unified)
    return f"{alone[1]}{alone[2].replace(' ', '')}{alone[3]}" if alone else unified


def _value(match: re.Match[str]) -> Decimal:
    """The value of one match, under the arithmetic that the caller set."""
    size = _size(match)
    return size.copy_negate() if match["sign"] == "-" else size


def _size(match: re.Match[str]) -> Decimal:
    if match["ten"]:
        return Decimal(1).scaleb(Decimal(match["ten_power"]))
    if match["top"]:
        fraction = Decimal(match["top"]) / Decimal(match["bottom"])
        return fraction + Decimal(match["whole"]) if match["whole"] else fraction
    size = _decimal(match)
    if match["scale"]:
        return size * _SCALES[match["scale"].lower()]
    power = match["exponent"] or match["power"]
    # Scaling rounds to the working precision, so what has no power is left as exact as it was written.
    return size.scaleb(Decimal(power)) if power else size


def _decimal(match: re.Match[str]) -> Decimal:
    if match["european"]:
        return Decimal(match["european"].replace(".", "").replace(",", "."))
    if match["comma"]:
        return Decimal(match["comma"].replace(",", "."))
    return Decimal((match["grouped"] or match["plain"]).replace(",", ""))
