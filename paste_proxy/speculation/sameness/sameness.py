"""What a policy says about which calls of a tool are the same, and what follows for their results."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.speculation.sameness.answer import text_of, with_text
from paste_proxy.speculation.sameness.lines import Arguments, Lines
from paste_proxy.speculation.sameness.shell import Shell


@dataclass(frozen=True, slots=True, kw_only=True)
class Sameness:
    """The same calls of a tool, in two steps.

    Calls of one `plain` form are answered the same, whatever the answer is. Calls of one `core` may be answered
    from what the core itself gave: `derived` says with what, or that it cannot tell.
    """

    ignore: frozenset[str] = frozenset()
    """Arguments that the tool takes no notice of."""
    defaults: Mapping[str, Json] = field(default_factory=dict)
    """Arguments, and the value that is as good as leaving them out."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Arguments that say when the tool gives up, and the seconds in one of their units."""
    at_most: Mapping[str, float] = field(default_factory=dict)
    """Arguments that bound the answer's size, in bytes or in characters or tokens, and the bound without them."""
    lines: Lines | None = None
    shell: Shell | None = None

    def plain(self, invocation: Invocation) -> Invocation:
        """The invocation without what makes no difference."""
        if not (self.ignore or self.defaults):
            return invocation
        kept = {name: value for name, value in invocation.arguments.items() if not self._idle(name, value)}
        return _with(invocation, kept)

    def core(self, invocation: Invocation) -> Invocation:
        """The invocation whose answer holds the answer of this one."""
        plain = self.plain(invocation)
        if not (self.seconds or self.at_most or self.lines or self.shell):
            return plain
        kept = {
            name: value
            for name, value in plain.arguments.items()
            if not (_is_number(value) and (name in self.seconds or name in self.at_most))
        }
        if self.lines is not None:
            whole = self.lines.core(kept)
            kept = kept if whole is None else whole
        return _with(plain, self.shell.core(kept) if self.shell else kept)

    def promising(self, asked: Invocation, expected_s: float) -> bool:
        """Whether a call should wait for a run of its core that is under way and may take so many seconds.

        Not where the tool, asked for just this, might be done long before: a call never waits for what it would
        not have waited for.
        """
        plain = self.plain(asked).arguments
        if self.lines is not None and self.lines.core(plain) != plain:
            return False
        if self.shell is not None and self.shell.early(plain):
            return False
        return all(bound > expected_s for bound in _bounds(plain, self.seconds))

    def does_all(self, asked: Invocation, result: ToolResult | None) -> bool:
        """Whether the tool, asked for just this, does all that it does for its core: is not stopped early.

        Args:
            result: what the core gave, if that is known.
        """
        arguments = self.plain(asked).arguments
        if self.shell is None or not self.shell.early(arguments):
            return True
        text = None if result is None else text_of(result)
        return text is not None and self.shell.shows_all(arguments, text)

    def derived(self, asked: Invocation, ran: Invocation, result: ToolResult, ran_s: float) -> ToolResult | None:
        """What the tool would have answered, had it been asked when the other call was run.

        Args:
            asked: the call to answer.
            ran: the call that was run, which took `ran_s` seconds and gave `result`.
        """
        plain = self.plain(asked)
        if self.plain(ran) == plain:
            return result
        if result.status is not Status.OK or self.plain(ran) != self.core(asked):
            return None
        if any(bound <= ran_s for bound in _bounds(plain.arguments, self.seconds)):
            return None
        if any(bound <= len(result.body) for bound in self._sizes(plain.arguments)):
            return None
        return self._cut(plain.arguments, result)

    def _sizes(self, asked: Arguments) -> list[float]:
        """The bounds that an answer must stay below to be whole, asked with these arguments or without them."""
        return [*_bounds(asked, dict.fromkeys(self.at_most, 1.0)), *self.at_most.values()]

    def _cut(self, asked: Arguments, result: ToolResult) -> ToolResult | None:
        if self.lines is None and self.shell is None:
            return result
        text = text_of(result)
        cut = self.lines.cut(asked, text) if self.lines and text is not None else text
        if self.shell is not None and cut is not None:
            cut = self.shell.cut(asked, cut)
        return None if cut is None else with_text(result, cut)

    def _idle(self, name: str, value: Json) -> bool:
        if name in self.ignore:
            return True
        return name in self.defaults and canonical_text(value) == canonical_text(self.defaults[name])


NOTHING_SAME = Sameness()


def _with(invocation: Invocation, arguments: dict[str, Json]) -> Invocation:
    return invocation if arguments == invocation.arguments else replace(invocation, arguments=arguments)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bounds(asked: Arguments, units: Mapping[str, float]) -> list[float]:
    """What a call's bounding arguments come to."""
    given = ((asked.get(name), unit) for name, unit in units.items())
    return [value * unit for value, unit in given if isinstance(value, int | float) and _is_number(value)]
