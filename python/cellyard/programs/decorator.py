"""The decorator that makes a drop policy of a Python function."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

from cellyard.components.drop import Program
from cellyard.programs.decide import State, fault, verdict
from cellyard.programs.source import Source
from cellyard.programs.translate import Translator
from cellyard.programs.words import DRAW, KNOWN, MOST_DIGITS, OWNERS, RESERVED, Verdict
from cellyard.system.errors import UsageError
from cellyard.system.values import as_python, shown

#: A function that `policy` accepts.
Decision = Callable[..., Verdict | None]


class Policy:
    """A drop policy made of a Python function by `policy`.

    A call with values of the parameters gives the component for a scenario: a `cellyard.Program`.
    ``text`` is the function in the language of programs. ``parameters`` maps the names of the
    parameters to their defaults, with `inspect.Parameter.empty` if a value is required.
    """

    __name__: str
    text: str
    parameters: Mapping[str, Any]

    def __init__(
        self, function: Decision, states: Mapping[str, Mapping[str, float]], fields: Mapping[str, Any]
    ) -> None:
        source = Source(function)
        translator = Translator(source, states)
        self.text = translator.text
        signature = inspect.signature(function)
        for name, argument in signature.parameters.items():
            if name in RESERVED and argument.default is not argument.empty:
                raise source.fault(translator.arguments[name], f"`{name}` is a name of the language and has no default")
        self.parameters = {name: signature.parameters[name].default for name in translator.parameters}
        self._states = states
        self._fields = fields
        self._arguments = list(translator.arguments)
        given = {name: value for name, value in self.parameters.items() if value is not inspect.Parameter.empty}
        required = [name for name in self.parameters if name not in given]
        if wrong := fault(Program(program=self.text, parameters=given, **fields), required):
            line, message = wrong
            raise source.fault(translator.statements[line - 1], message)
        functools.update_wrapper(self, function)
        made = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d) for n, d in self.parameters.items()]
        self.__signature__ = signature.replace(parameters=made, return_annotation=Program)

    def __call__(self, **parameters: str | float) -> Program:
        """The component with these values of the parameters. Raises `TypeError` for missing and unknown names."""
        return Program(program=self.text, parameters=self._complete(parameters), **self._fields)

    def _complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, by default those of the function."""
        names = ", ".join(self.parameters) or "none"
        for name in given:
            if name not in self.parameters:
                raise TypeError(f"{self.__name__}() has no parameter `{name}` (allowed: {names})")
        values = {**self.parameters, **given}
        missing = [name for name, value in values.items() if value is inspect.Parameter.empty]
        if missing:
            raise TypeError(f"{self.__name__}() needs values of: {', '.join(missing)}")
        return values

    def decide(self, **values: Any) -> Verdict:
        """The verdict of the policy, from the evaluator of the reference engine.

        ``values`` are those of the arguments, by name. Names of the language are whole numbers.
        Parameters have their defaults, and take what a scenario takes (``R="900 cells"``). ``K`` is
        `math.inf` without limit. A rate such as ``MCR`` is a number, or a list with the rate of
        every VC, that of the cell's VC first. ``draw`` is a number from 0 to below 1, or a function
        that returns one. ``queue`` and ``vc`` are states from `new_state`, which the policy
        changes. By default they are new. Raises `ArithmeticError` if a run would end, such as
        for a division by zero.

        >>> import cellyard as cy
        >>> @cy.policy
        ... def half_share(X, Y, N, R="900 cells", Z=0.8):
        ...     if X > R and Y * N > Z * X:
        ...         return cy.refuse
        >>> half_share.decide(X=950, Y=400, N=5), half_share.decide(X=950, Y=100, N=5)
        ('refuse', 'accept')
        """
        given = {name: value for name, value in self.parameters.items() if value is not inspect.Parameter.empty}
        given |= {owner: self.new_state(owner) for owner in OWNERS} | values
        if missing := [name for name in self._arguments if name not in given]:
            raise TypeError(f"missing values: {', '.join(missing)}")
        if unknown := [name for name in values if name not in (*self._arguments, *KNOWN, DRAW, *OWNERS)]:
            raise TypeError(f"unknown values: {', '.join(unknown)} (allowed: {', '.join(self._arguments)})")
        for owner, states in self._states.items():
            if not isinstance(given[owner], State) or vars(given[owner]).keys() != states.keys():
                raise TypeError(f"{owner} = {shown(given[owner])}: must be a state from new_state({owner!r})")
        return verdict(self(**{name: given[name] for name in self.parameters}), given)

    def new_state(self, owner: Literal["queue", "vc"] | str) -> State:
        """The state of a queue or VC at the start, for `decide`."""
        if owner not in self._states:
            raise UsageError(f"owner = {shown(owner)}: must be 'queue' or 'vc'")
        return State(self._states[owner])

    def __repr__(self) -> str:
        return f"Policy({self.__name__})"


@overload
def policy(function: Decision, /) -> Policy: ...
@overload
def policy(
    *,
    asked: Literal["frames", "cells"] = "frames",
    queue: Mapping[str, float] | None = None,
    vc: Mapping[str, float] | None = None,
    never_below: str | float | None = None,
    export_tag: bool = True,
) -> Callable[[Decision], Policy]: ...
def policy(
    function: Decision | None = None,
    /,
    *,
    asked: Literal["frames", "cells"] = "frames",
    queue: Mapping[str, float] | None = None,
    vc: Mapping[str, float] | None = None,
    never_below: str | float | None = None,
    export_tag: bool = True,
) -> Policy | Callable[[Decision], Policy]:
    """Make a drop policy of a Python function. A decorator, with or without arguments.

    The function is read once and translated into the language of programs (docs/programs.md). It
    may have assignments, ``if`` and ``return`` with a verdict, such as ``return cy.refuse``. Its
    end accepts. It may use ``+ - * /``, comparisons, ``and or not``, ``min max abs float``,
    ``math.floor``, ``a ** n`` and ``sum(MCR)``. Each of these names must mean in the function what
    it means in Python, and each verdict that of Cellyard.

    Its arguments are what it uses: names of the language (``X``, ``Y``, ``MCR``), the function
    ``draw``, and its own parameters, perhaps with defaults. ``queue`` and ``vc`` declare state
    with its values at the start, of the queue and of each VC. The function then has the arguments
    ``queue`` and ``vc``, and changes state by assignment: ``vc.seen += 1``. The other arguments of
    the decorator are fields of `cellyard.Program`.

    Raises `cellyard.PolicyError` for what the language lacks, and for a wrong type.

    >>> import cellyard as cy
    >>> @cy.policy(asked="cells", queue={"average": 0.0})
    ... def smooth(queue, X, R, weight=0.25):
    ...     queue.average += weight * (X - queue.average)
    ...     if queue.average > R:
    ...         return cy.refuse
    >>> print(smooth.text, end="")
    queue state average = 0.0
    average = average + weight * (X - average)
    if average > R {
        refuse
    }
    >>> drop = smooth(R="900 cells")
    >>> drop.parameters
    {'R': '900 cells', 'weight': 0.25}
    """
    states = {"queue": checked_states("queue", queue), "vc": checked_states("vc", vc)}
    for name in states["queue"].keys() & states["vc"].keys():
        raise UsageError(f"vc = {shown(vc)}: {name!r} is also a state of the queue")
    fields = {"asked": asked, "never_below": never_below, "export_tag": export_tag}

    def decorate(function: Decision) -> Policy:
        return Policy(function, states, fields)

    return decorate if function is None else decorate(function)


def checked_states(owner: str, given: object) -> dict[str, float]:
    """States with their values at the start. Raises `UsageError`."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(f"{owner} = {shown(given)}: must map names of state to their values at the start")
    states = {}
    for name, start in given.items():
        value = as_python(start)
        if not isinstance(name, str) or not (name.isascii() and name.isidentifier()):
            raise UsageError(f"{owner}: {shown(name)} cannot be a state: it needs letters, digits and _")
        if name.startswith("_"):
            raise UsageError(f"{owner}: {name!r} cannot be a state: its first character must be a letter")
        if name in RESERVED:
            raise UsageError(f"{owner}: {name!r} is a word of the language and cannot be a state")
        if type(value) not in (bool, int, float) or not abs(value) < 10**MOST_DIGITS:
            raise UsageError(
                f"{owner}.{name} = {shown(start)}: must be a number below 10^{MOST_DIGITS}, or a truth value"
            )
        states[name] = value
    return states
