"""Scenarios: from a file, a text, or keys in code."""

import os

from . import _weir


def assignments(values):
    """The `path=value` of each entry of a dictionary; a list is taken as it is."""
    if values is None:
        return []
    if isinstance(values, dict):
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

    def __init__(self, keys=None, /, **more):
        self._own = _weir.Scenario.build({**(keys or {}), **more})

    @classmethod
    def _of(cls, own):
        scenario = cls.__new__(cls)
        scenario._own = own
        return scenario

    @classmethod
    def open(cls, name):
        """The shipped scenario of this name (`weir.scenarios()`), or that of a file."""
        return cls._of(_weir.Scenario.open(os.fspath(name)))

    @classmethod
    def parse(cls, text, name="scenario"):
        """The scenario of a text in TOML; messages call it `name`."""
        return cls._of(_weir.Scenario.parse(text, name))

    @classmethod
    def of(cls, source):
        """The scenario of a name, a path, a text in TOML, a dictionary, or a scenario."""
        if isinstance(source, cls):
            return source
        if isinstance(source, dict):
            return cls(source)
        if isinstance(source, str) and "\n" in source:
            return cls.parse(source)
        if isinstance(source, (str, os.PathLike)):
            return cls.open(source)
        raise TypeError(
            f"a scenario is a name, a path, a text in TOML, a dictionary or weir.Scenario, not {type(source).__name__}"
        )

    def set(self, values):
        """The same scenario with other values: a dictionary from paths such as `links.forward.rate` to values."""
        return Scenario._of(self._own.set(assignments(values)))

    def to_toml(self):
        """The scenario as TOML, with every default written out."""
        return self._own.to_toml()

    def warnings(self):
        """Features that can be simulated and should not be sent into a network."""
        return self._own.warnings()

    name = property(lambda self: self._own.name, doc="Name of its results.")
    title = property(lambda self: self._own.title, doc="Its title, one line.")
    duration = property(lambda self: self._own.duration, doc="Duration of a run in seconds.")
    seeds = property(lambda self: self._own.seeds, doc="The seeds of its runs.")
    controllers = property(lambda self: self._own.controllers, doc="The controllers that it compares.")
    flows = property(lambda self: self._own.flows, doc="Names of its flows.")
    links = property(lambda self: self._own.links, doc="Names of its links.")

    def __eq__(self, other):
        return isinstance(other, Scenario) and self._own == other._own

    __hash__ = None

    def __repr__(self):
        return f"<weir.Scenario {self.name!r}: {self.title}>"
