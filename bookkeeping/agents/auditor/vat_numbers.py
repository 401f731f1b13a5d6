"""Tax numbers: the format and the check digits of a country.

Formats are those of the VAT information exchange of the European Union, with Great Britain, Northern Ireland (XI),
Switzerland and Norway. Check digits only where the country has published how it computes them and the rule stands
here; for the others the format is judged alone.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

FORMATS = {
    "AT": r"U\d{8}", "BE": r"[01]\d{9}", "BG": r"\d{9,10}", "CH": r"E\d{9}(MWST|TVA|IVA)?", "CY": r"\d{8}[A-Z]",
    "CZ": r"\d{8,10}", "DE": r"[1-9]\d{8}", "DK": r"[1-9]\d{7}", "EE": r"\d{9}", "EL": r"\d{9}",
    "ES": r"[A-Z0-9]\d{7}[A-Z0-9]", "FI": r"\d{8}", "FR": r"[A-HJ-NP-Z0-9]{2}\d{9}",
    "GB": r"(\d{9}|\d{12}|(GD|HA)\d{3})", "HR": r"\d{11}", "HU": r"\d{8}",
    "IE": r"(\d{7}[A-W][A-I]?|\d[A-Z+*]\d{5}[A-W])",
    "IT": r"\d{11}", "LT": r"(\d{9}|\d{12})", "LU": r"\d{8}", "LV": r"\d{11}", "MT": r"\d{8}", "NL": r"\d{9}B\d{2}",
    "NO": r"\d{9}(MVA)?", "PL": r"\d{10}", "PT": r"\d{9}", "RO": r"\d{2,10}", "SE": r"\d{10}01", "SI": r"\d{8}",
    "SK": r"\d{10}", "XI": r"(\d{9}|\d{12}|(GD|HA)\d{3})",
}  # fmt: skip
"""By prefix, what follows it."""


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdigit()]


def _weighted(digits: Iterable[int], weights: Iterable[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def _luhn_sum(digits: list[int], first: int) -> int:
    """Sum with every second digit doubled, its own digits added; the first factor is ``first``."""
    total = 0
    for position, digit in enumerate(digits):
        product = digit * (first if position % 2 == 0 else 3 - first)
        total += product - 9 if product > 9 else product
    return total


def _mod_11_10(digits: list[int]) -> bool:
    """ISO 7064, MOD 11,10."""
    product = 10
    for digit in digits[:-1]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[-1]


def _austria(digits: list[int]) -> bool:
    return (10 - (_luhn_sum(digits[:7], 1) + 4) % 10) % 10 == digits[7]


def _belgium(digits: list[int]) -> bool:
    number = int("".join(map(str, digits)))
    return 97 - number // 100 % 97 == number % 100


def _france(text: str) -> bool:
    if not text[:2].isdigit():
        return True
    siren = int(text[2:])
    return (12 + 3 * (siren % 97)) % 97 == int(text[:2])


def _britain(digits: list[int]) -> bool:
    if len(digits) < 9:
        return True
    total = _weighted(digits[:7], range(8, 1, -1)) + digits[7] * 10 + digits[8]
    return total % 97 == 0 or (total + 55) % 97 == 0


def _netherlands(digits: list[int], text: str) -> bool:
    """Mod 11 of the citizen's or company's number, or mod 97 over the whole (numbers of sole traders since 2020)."""
    whole = "".join(str(ord(letter) - 55) if letter.isalpha() else letter for letter in f"NL{text}")
    return _weighted(digits[:8], range(9, 1, -1)) % 11 == digits[8] or int(whole) % 97 == 1


def _slovenia(digits: list[int]) -> bool:
    left = 11 - _weighted(digits[:7], range(8, 1, -1)) % 11
    return left != 11 and left % 10 == digits[7]


def _greece(digits: list[int]) -> bool:
    return _weighted(digits[:8], (256, 128, 64, 32, 16, 8, 4, 2)) % 11 % 10 == digits[8]


def _portugal(digits: list[int]) -> bool:
    left = 11 - _weighted(digits[:8], range(9, 1, -1)) % 11
    return (0 if left > 9 else left) == digits[8]


def _finland(digits: list[int]) -> bool:
    rest = _weighted(digits[:7], (7, 9, 10, 5, 8, 4, 2)) % 11
    return rest != 1 and (0 if rest == 0 else 11 - rest) == digits[7]


def _estonia(digits: list[int]) -> bool:
    return _weighted(digits, (3, 7, 1, 3, 7, 1, 3, 7, 1)) % 10 == 0


def _hungary(digits: list[int]) -> bool:
    return _weighted(digits, (9, 7, 3, 1, 9, 7, 3, 1)) % 10 == 0


RULES: Mapping[str, Callable[[list[int]], bool]] = {
    "AT": _austria, "BE": _belgium, "DE": _mod_11_10, "EE": _estonia, "EL": _greece, "FI": _finland, "GB": _britain,
    "HR": _mod_11_10, "HU": _hungary, "PT": _portugal, "SI": _slovenia, "XI": _britain,
    "CH": lambda digits: (11 - _weighted(digits[:8], (5, 4, 3, 2, 7, 6, 5, 4)) % 11) % 11 == digits[8],
    "DK": lambda digits: _weighted(digits, (2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0,
    "IT": lambda digits: _luhn_sum(digits, 1) % 10 == 0,
    "LU": lambda digits: int("".join(map(str, digits[:6]))) % 89 == int("".join(map(str, digits[6:]))),
    "NO": lambda digits: (11 - _weighted(digits[:8], (3, 2, 7, 6, 5, 4, 3, 2)) % 11) % 11 == digits[8],
    "PL": lambda digits: _weighted(digits[:9], (6, 5, 7, 2, 3, 4, 5, 6, 7)) % 11 == digits[9],
    "SE": lambda digits: _luhn_sum(digits[:10], 2) % 10 == 0,
    "SK": lambda digits: int("".join(map(str, digits))) % 11 == 0,
}  # fmt: skip
"""By prefix, whether the digits are right. Those of France and the Netherlands need the letters too."""


def fault(tax_number: str, country: str) -> str | None:
    """``format``, ``check_digit`` or None. The prefix decides, the party's country where there is none.

    A country that is not among the formats is not judged.
    """
    plain = re.sub(r"[\s.\-]", "", tax_number).upper()
    prefix, rest = plain[:2], plain[2:]
    if prefix not in FORMATS:
        prefix, rest = {"GR": "EL"}.get(country, country), plain
    if prefix not in FORMATS:
        return None
    if not re.fullmatch(FORMATS[prefix], rest, re.ASCII):
        return "format"
    return None if _has_right_digits(prefix, rest) else "check_digit"


def _has_right_digits(prefix: str, rest: str) -> bool:
    digits = _digits(rest)
    if prefix == "FR":
        return _france(rest)
    if prefix == "NL":
        return _netherlands(digits, rest)
    rule = RULES.get(prefix)
    return rule is None or rule(digits)


def with_fault(candidates: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The candidates whose number is wrong, with the reason."""
    for row in candidates:
        reason = fault(row["tax_number"], row["country"])
        if reason is not None:
            yield {**row, "reason": reason}
