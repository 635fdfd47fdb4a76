"""Scenarios: from a file, a text, or keys in code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

from . import _weir
from ._types import Path, Settings


def assignments(values: Settings | None) -> list[str]:
    """The `path=value` of each entry of a dictionary; a list is taken as it is."""
    if values is None:
        return []
    if isinstance(values, Mapping):
        return [_weir.assignment(path, value) for path, value in values.items()]
    if isinstance(values, str):
        return [values]
    return [str(value) for value in values]


class Scenario:
    """A network, its flows and its measurements; valid, or not made.

    >>> import weir
    >>> call = weir.Scenario(
    ...     title="a call over 2 Mbit/s",
    ...     duration="20s",
    ...     dumbbell={"bottleneck": {"rate": "2Mbps", "delay": "20ms"}, "access": {"rate": "1Gbps"}},
    ...     flows={"call": {"kind": "media", "controller": "gcc"}},
    ... )
    >>> call.flows, call.duration
    (['call'], 20.0)
    >>> call.set({"dumbbell.bottleneck.rate": "1Mbps"}) == call
    False
    >>> weir.Scenario(title="nothing", duration="1 parsec")
    Traceback (most recent call last):
        ...
    weir.ScenarioError: scenario:2:12: ...
    """

    def __init__(self, keys: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._own = _weir.Scenario.build({**(keys or {}), **more})

    @classmethod
    def _of(cls, own: _weir.Scenario) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._own = own
        return scenario

    @classmethod
    def open(cls, name: Path) -> Scenario:
        """The shipped scenario of this name (`weir.scenarios()`), or that of a file."""
        return cls._of(_weir.Scenario.open(os.fspath(name)))

    @classmethod
    def parse(cls, text: str, name: str = "scenario") -> Scenario:
        """The scenario of a text in TOML; messages call it `name`."""
        return cls._of(_weir.Scenario.parse(text, name))

    @classmethod
    def of(cls, source: ScenarioSource) -> Scenario:
        """The scenario of a name, a path, a text in TOML, a dictionary, or a scenario."""
        if isinstance(source, cls):
            return source
        if isinstance(source, Mapping):
            return cls(source)
        if isinstance(source, str) and "\n" in source:
            return cls.parse(source)
        if isinstance(source, (str, os.PathLike)):
            return cls.open(source)
        raise TypeError(
            f"a scenario is a name, a path, a text in TOML, a dictionary or weir.Scenario, not {type(source).__name__}"
        )

    def set(self, values: Settings) -> Scenario:
        """The same scenario with other values: a dictionary from paths such as `links.forward.rate` to values."""
        return Scenario._of(self._own.set(assignments(values)))

    def to_toml(self) -> str:
        """The scenario as TOML, with every default written out."""
        return self._own.to_toml()

    def warnings(self) -> list[str]:
        """Features that can be simulated and should not be sent into a network."""
        return self._own.warnings()

    @property
    def name(self) -> str:
        """Name of its results."""
        return self._own.name

    @property
    def title(self) -> str:
        """Its title, one line."""
        return self._own.title

    @property
    def duration(self) -> float:
        """Duration of a run in seconds."""
        return self._own.duration

    @property
    def seeds(self) -> list[int]:
        """The seeds of its runs."""
        return self._own.seeds

    @property
    def controllers(self) -> list[str]:
        """The controllers that it compares."""
        return self._own.controllers

    @property
    def flows(self) -> list[str]:
        """Names of its flows."""
        return self._own.flows

    @property
    def links(self) -> list[str]:
        """Names of its links."""
        return self._own.links

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._own == other._own

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<weir.Scenario {self.name!r}: {self.title}>"


#: A shipped name, a path, a text in TOML, a dictionary, or a scenario.
ScenarioSource: TypeAlias = Scenario | Path | Mapping[str, Any]
