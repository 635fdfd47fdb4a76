"""Distributions of scenarios, with disjoint draws for training, validation and test."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from typing import SupportsIndex, overload

# Not that of the caller, so that draws are the same everywhere.
_CONTEXT = Context(prec=28)
_UNITS = {
    "bps": {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9},
    "ns": {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9},
    "B": {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9},
}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]*)\s*")
# Bits of an index within a part; above them are two bits of the part, and above these the distribution's own seed.
_INDEX_BITS = 40
_PARTS = ("train", "validation", "test")
_MOST_SEEDS = 1 << 20


@dataclass(frozen=True)
class Draw:
    """A drawn scenario: the seed of its run, and the settings that differ from the base scenario."""

    seed: int
    set: Mapping[str, object]


class Distribution:
    """Ranges of keys of a scenario.

    Each key has a pair of bounds, from which values are drawn uniformly, or a triple of them with ``"log"``, by
    logarithms. Bounds are numbers, or quantities of one kind with units: ``("300kbps", "6Mbps", "log")``. A key with
    a list has one of its elements.

    ``train``, ``validation`` and ``test`` are sequences of draws. Draw i of a part has the run seed ``seed · 2⁴² +
    part · 2⁴⁰ + i``, so that no run of one part, nor of a distribution with another seed, is one of another part.
    Values depend on the run seed and the key alone, by SHA-256 and decimal arithmetic: they are the same on every
    machine, and another key does not change them.

    >>> calls = Distribution({"links.forward.rate": ("300kbps", "6Mbps", "log"), "links.forward.loss": (0, 0.05)})
    >>> calls.test[0].set["links.forward.rate"]
    '1104796bps'
    """

    def __init__(
        self, ranges: Mapping[str, Sequence[object]], *, seed: int = 0, sizes: Sequence[int] = (1_000_000, 1000, 1000)
    ) -> None:
        if not isinstance(ranges, Mapping):
            raise TypeError(f"ranges: a dictionary of keys and their ranges, not {type(ranges).__name__}")
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise TypeError(f"seed: a whole number, not {seed!r}")
        if not 0 <= seed < _MOST_SEEDS:
            raise ValueError(f"seed: {seed} is not from 0 to {_MOST_SEEDS - 1}")
        if len(sizes) != len(_PARTS) or not all(
            isinstance(size, int) and 0 < size <= 1 << _INDEX_BITS for size in sizes
        ):
            raise ValueError(
                f"sizes: three numbers from 1 to 2**{_INDEX_BITS}, of train, validation and test, not {sizes!r}"
            )
        self.ranges: Mapping[str, _Choice | _Range] = {key: _range(key, given) for key, given in ranges.items()}
        self.train, self.validation, self.test = (
            Draws(self, (seed << 2 | part) << _INDEX_BITS, size, name)
            for part, (name, size) in enumerate(zip(_PARTS, sizes, strict=True))
        )

    def draw(self, seed: int) -> Draw:
        """The draw of a run seed."""
        return Draw(seed, {key: own.value(_uniform(seed, key)) for key, own in self.ranges.items()})


class Draws(Sequence[Draw]):
    """The draws of one part of a :class:`Distribution`."""

    def __init__(self, distribution: Distribution, first: int, size: int, part: str) -> None:
        self._distribution, self._first, self._size, self.part = distribution, first, size, part

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: SupportsIndex) -> Draw: ...

    @overload
    def __getitem__(self, index: slice) -> list[Draw]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Draw | list[Draw]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._size))]
        place = index.__index__()
        if place < 0:
            place += self._size
        if not 0 <= place < self._size:
            raise IndexError(f"{self.part}: there is no draw {index}: there are {self._size}")
        return self._distribution.draw(self._first + place)

    def __repr__(self) -> str:
        return f"<{self._size} draws for {self.part}>"


@dataclass(frozen=True)
class _Choice:
    values: tuple[object, ...]

    def value(self, uniform: Decimal) -> object:
        return self.values[int(_CONTEXT.multiply(uniform, Decimal(len(self.values))))]


@dataclass(frozen=True)
class _Range:
    low: Decimal
    high: Decimal
    # The logarithm of high / low, where values are drawn by logarithms.
    log: Decimal | None
    # The unit; none for numbers, which are whole where both bounds are.
    unit: str
    is_whole: bool

    def value(self, uniform: Decimal) -> object:
        with localcontext(_CONTEXT):
            value = (
                self.low * (uniform * self.log).exp()
                if self.log is not None
                else self.low + uniform * (self.high - self.low)
            )
        if self.unit:
            return f"{round(value)}{self.unit}"
        return int(value) if self.is_whole else float(f"{value:.6g}")


def _range(key: object, given: object) -> _Choice | _Range:
    if not isinstance(key, str) or not key:
        raise TypeError(f"ranges: a key is text such as 'links.forward.rate', not {key!r}")
    if isinstance(given, list):
        if not given:
            raise ValueError(f"{key}: a list of choices is empty")
        return _Choice(tuple(given))
    if not isinstance(given, tuple) or len(given) not in (2, 3) or (len(given) == 3 and given[2] != "log"):
        raise TypeError(f"{key}: (low, high), (low, high, 'log') or a list of choices, not {given!r}")
    (low, unit), (high, other) = _quantity(key, given[0]), _quantity(key, given[1])
    if unit != other:
        raise ValueError(f"{key}: the bounds {given[0]!r} and {given[1]!r} are not of one kind")
    if low > high:
        raise ValueError(f"{key}: the lower bound {given[0]!r} is above the upper {given[1]!r}")
    if len(given) == 3 and low <= 0:
        raise ValueError(f"{key}: a range by logarithms begins above 0, not at {given[0]!r}")
    log = _CONTEXT.ln(_CONTEXT.divide(high, low)) if len(given) == 3 else None
    # A uniform number below 1 gives a whole one up to the upper bound.
    is_whole = not unit and log is None and all(isinstance(bound, int) for bound in given)
    return _Range(low, _CONTEXT.add(high, Decimal(1)) if is_whole else high, log, unit, is_whole)


def _quantity(key: str, given: object) -> tuple[Decimal, str]:
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        if given != given or given in (float("inf"), float("-inf")):
            raise ValueError(f"{key}: a bound is a finite number, not {given!r}")
        return Decimal(repr(given)), ""
    if isinstance(given, str) and (match := _QUANTITY.fullmatch(given)):
        for base, units in _UNITS.items():
            if match[2] in units:
                return _CONTEXT.multiply(Decimal(match[1]), Decimal(units[match[2]])), base
    raise ValueError(f"{key}: a bound is a number, or a quantity such as '2.5Mbps', '25ms' or '30kB', not {given!r}")


def _uniform(seed: int, key: str) -> Decimal:
    """A number from 0 and below 1."""
    digest = hashlib.sha256(f"{seed}/{key}".encode()).digest()
    return _CONTEXT.divide(Decimal(int.from_bytes(digest[:8]) >> 11), Decimal(1 << 53))
