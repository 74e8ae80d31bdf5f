"""Commands made from the table of operations: what must be said are arguments, the rest are options.

A row of the table is a command by itself. `SPELLED` says where people are better served by another name,
another order or a word for what was done. Where what came of it is worth a page of its own, a function shows
it (`presented`); its parameters, their help and the call are still those of the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import Enum
from functools import cache, partial
from inspect import getdoc
from typing import Any, get_args, get_origin

import click

from engram.cli.options import (
    Command,
    CommandRun,
    Group,
    KeyValue,
    MomentOption,
    one_of,
    pass_run,
    split,
    text_or_stdin,
)
from engram.cli.output import NOT_FOUND, line, say, say_json, steps, table, text
from engram.lazily import dataclass
from engram.model.memory import Filters
from engram.model.plain import Says
from engram.operations import OPERATIONS, Operation
from engram.operations.values import LISTS, Parameter, Style, fields_of, options, reader

WORDS = frozenset({"about", "content", "message", "query", "question", "steps", "text", "words"})
"""Arguments that need no quotation marks when they come last."""


MAY_BE_EMPTY = frozenset({"content", "message", "query"})
"""Words that are missed further in, with a sentence of their own, or that a prompt can begin without."""
PLACE = ("namespace", "project", "squad", "agent", "channel", "user")
"""Options that every command has; a parameter of that name is taken from there."""
FILTERS = "filters"
AHEAD = frozenset({"expires_at", "valid_to"})
"""Times of which a span such as 7d is counted on from now, not back."""
ASKED = "asked_"
"""Before the names of parameters, lest one takes the place of an option that every command has."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a command is spelled and what it says."""

    operation: str | Operation
    places: str = ""
    """What stands without a dash, in order: `subject? predicate?`; a star takes all words that are left, a
    plus takes them from stdin when there are none."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """Options of another name; `--dropped=dropped` is a switch that says this, behind a bar what it means."""
    done: str = ""
    """The word for what was done; behind a bar the word for what a dry run tells."""
    none: str = ""
    """The line that is printed when the result is empty."""
    fails: bool | Callable[[Any], bool] | None = False
    """Whether nothing found is exit code 1; None: whether something is; or what decides it."""
    hint: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What is always said, and so asked of nobody."""
    without: tuple[str, ...] = ()
    """Parameters that no command line can say well."""
    fields: bool = False
    """Whether it takes the fields of a memory, where its operation does."""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The words that a parameter may be, where only the settings know them."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """What shows an answer to a person, with options of its own."""

    show: Callable[..., None]
    own: tuple[click.Parameter, ...]
    with_json: bool
    prepare: Callable[..., dict[str, Any]] | None


S = Spelling


NOTHING_LEARNED = "nothing was worked out yet: run `engram consolidate`"
_TURN = Operation(
    "sessions.turn", "Say something in a session and show the prompt for it.", calls="calls.take_turn"
)
_END = Operation("facts.end", "Say that a fact of a memory holds no longer.", calls="calls.end_fact_by_parts")
_BUS = Operation(
    "bus.list", "List what is offered and who wants what.", calls="calls.whole_bus", owner=True, reads=True
)

LEARNED = "profile identity map tree core topics cards boxes traces patterns guidelines"
"""What is asked of knowledge and may not be worked out yet."""
MEANT = {"knowledge": "profile", "memory": "", "maintain": "", "server": ""}
"""The command of a group that is meant when none is named; else its list."""
NOUNS = {"session": "sessions", "memory": "memories", "maintain": "maintenance"}
"""The nouns of groups that are called otherwise."""

SPELLED: Mapping[str, Spelling] = {
    "forget": S("forget", done="forgotten", hint="engram restore {id} brings it back"),
    "memory restore": S("restore", done="restored"),
    "memory pin": S("memories.pin", flags={"pinned": "--off=false"}, done="{pinned}"),
    "memory confirm": S("memories.confirm", done="confirmed"),
    "memory promote": S("memories.promote", done="promoted to {layer}"),
    "memory demote": S("memories.demote", done="demoted to {layer}"),
    "memory status": S("memories.set_status", done="{status}"),
    "memory unrelate": S(
        "memories.unrelate", "source target", done="removed", none="there was no such connection", fails=True
    ),
    "memory relate": S("relate", "source target"),
    "facts list": S("facts.query", "subject? predicate?", none="no such fact is known"),
    "facts add": S(
        "facts.add", flags={"functional": "--one/--many", "valid_from": "--from", "valid_to": "--to"}
    ),
    "facts history": S("facts.history", "subject predicate?", none="no such fact is known"),
    "facts conflicts": S("facts.conflicts", none="no two facts contradict each other"),
    "facts chain": S("facts.chain", none="nothing leads on from there", fails=True),
    "facts end": S(_END, "memory_id triple*", done="ended"),
    "entities list": S("entities.list", none="nobody and nothing is named yet"),
    "entities show": S("entities.get"),
    "entities alias": S("entities.alias", done="named"),
    "entities merge": S("entities.merge", done="merged"),
    "entities split": S("entities.split", done="split off", none="split off: no memory names it"),
    "conflicts list": S(
        "conflicts.list",
        none="nothing contradicts anything",
        hint="settle one: engram conflicts resolve A B --keep a|b|both|merge",
    ),
    "conflicts resolve": S("conflicts.resolve", "id_a id_b", flags={"keep": "--keep"}, done="kept"),
    "conflicts review": S("conflicts.review", none="0 settled"),
    **{f"knowledge {name}": S(f"knowledge.{name}", none=NOTHING_LEARNED) for name in LEARNED.split()},
    "knowledge card": S("knowledge.card", "name*", none="nobody of that name has a card", fails=True),
    "knowledge knowing": S(
        "knowledge.knowing",
        none="no gap is known here",
        fails=None,
        done="little is known of it",
    ),
    "gaps list": S("gaps.list", none="there is nothing to ask"),
    "gaps ask": S("gaps.ask", none="there is nothing to ask"),
    "gaps answer": S("gaps.answer", done="remembered"),
    "gaps dismiss": S("gaps.dismiss", done="dismissed"),
    "commitments list": S("commitments.list", none="nothing is open"),
    "commitments open": S("commitments.open", done="opened"),
    "commitments show": S("commitments.get"),
    "commitments close": S(
        "commitments.close", "commitment_id", flags={"outcome": "--dropped=dropped"}, done="{state}"
    ),
    "commitments wait": S("commitments.wait", "commitment_id on*", done="waiting"),
    "commitments reopen": S("commitments.reopen", done="reopened"),
    "triggers list": S(
        "triggers.list", none="no triggers yet: engram triggers add WORD … --load PAGE makes one"
    ),
    "triggers add": S("triggers.add", "words*", flags={"pages": "--load"}, done="made"),
    "triggers edit": S("triggers.update", flags={"words": "--word", "pages": "--load"}, done="changed"),
    "triggers match": S("triggers.match", none="it sets off nothing"),
    "triggers remove": S("triggers.remove", done="removed"),
    "session list": S("sessions.list", none="no sessions yet: engram session turn NAME WORDS… begins one"),
    "session show": S("sessions.resume"),
    "session start": S("sessions.start", "id?"),
    "session reply": S("sessions.reply", "session_id reply*"),
    "session turn": S(_TURN, "session_id message*"),
    "session hold": S("sessions.hold", done="held"),
    "session suspend": S("sessions.suspend", done="asleep"),
    "session end": S("sessions.end", done="ended {session_id}", none="ended {session_id}"),
    "session learn": S("sessions.learn", done="learned"),
    "session complete": S(
        "sessions.complete", "project", flags={"lessons": "--lesson"}, done="complete {project}"
    ),
    "bus publish": S("bus.publish", flags={"agents": "--only", "topics": "--topic"}, done="offered"),
    "bus withdraw": S("bus.withdraw", done="withdrawn", none="there is none of that id", fails=True),
    "bus subscribe": S("bus.subscribe", flags={"agents": "--from", "topics": "--topic"}, done="subscribed"),
    "bus unsubscribe": S("bus.unsubscribe", done="ended", none="there is none of that id", fails=True),
    "bus list": S(_BUS, none="nothing is offered and nobody subscribed"),
}
"""Commands that are called or say otherwise than their operations by themselves."""


SENTIMENTS = ("positive", "negative", "mixed", "neutral")
NARROWED: Mapping[str, tuple[str, str]] = {
    "kinds": ("-k --kind", "Only this kind; may be repeated."),
    "categories": ("-c --category", "Only this category."),
    "types": ("--type", "Only this type."),
    "layers": ("--layer", "Only this layer."),
    "statuses": ("--status", "Only this status."),
    "verifications": ("--verification", "Only what was vouched for so."),
    "tiers": ("--tier", "Only what is so secret."),
    "priorities": ("--priority", "Only of this priority."),
    "tags_any": ("-t --tag --tags", "With at least one of these tags."),
    "tags_all": ("--all-tags", "With every one of these tags."),
    "not_tags": ("--not-tag", "With none of these tags."),
    "entities": ("--entity", "That mentions this name."),
    "speakers": ("--speaker", "Said by this speaker."),
    "sources": ("--source", "From this source."),
    "session": ("--session", "Out of this session."),
    "created_since": ("--since", "Stored since then (2026-03-01, 7d)."),
    "created_until": ("--until", "Stored until then."),
    "happened_since": ("--happened-since", "Happened since then."),
    "happened_until": ("--happened-until", "Happened until then."),
    "accessed_since": ("--accessed-since", "Used since then."),
    "accessed_until": ("--accessed-until", "Used last until then."),
    "modified_since": ("--modified-since", "Changed since then."),
    "modified_until": ("--modified-until", "Changed last until then."),
    "as_of": ("--as-of", "What was believed then, in the words of that time."),
    "people": ("--person", "That speaks of this person."),
    "technologies": ("--technology", "That names this technology."),
    "paths": ("--path", "With a path that begins so."),
    "urls": ("--url", "With an address that begins so."),
    "topics": ("--topic", "About this topic."),
    "languages": ("--language", "In this language (en, zh)."),
    "code_languages": ("--code-language", "With code of this language."),
    "sentiments": ("--sentiment", "Only what sounds so."),
    "about_since": ("--about-since", "That speaks of a day since then."),
    "about_until": ("--about-until", "That speaks of a day until then."),
    "details": ("--detail", "With this detail."),
    "origin_prefix": ("--origin", "Imported from what begins so."),
    "ids": ("--id", "Only these, by their full ids."),
    "min_trust": ("--min-trust", "From a source trusted so far."),
    "min_arousal": ("--min-arousal", "That stirs at least so much."),
    "max_importance": ("--max-importance", "At most so important."),
    "min_importance": ("--min-importance", "At least so important."),
    "min_confidence": ("--min-confidence", "At least so sure."),
    "pinned": ("--pinned/--not-pinned", "Only pinned ones, or only others."),
}
"""The filters: the option of each, and what is asked for by it; how it is read follows from its type."""


@cache
def _filter_parameters() -> dict[str, Parameter]:
    """The filters as parameters, by their names; an operation may have parameters of the same."""
    parameters, fields = {}, {parameter.name: parameter for parameter in fields_of(Filters)}
    for name, (flags, sentence) in NARROWED.items():
        most = 1.0 if fields[name].hint is float else None
        words = SENTIMENTS if name == "sentiments" else ()
        says = Says(sentence, most=most, flags=flags, choices=words)
        parameters[name] = replace(fields[name], name=f"only_{name}", default=None, says=says)
    return parameters


def made_command(name: str, sentence: str) -> click.Command:
    """The command or the group of a name."""
    if name in MEANT or any(path.startswith(f"{name} ") for path in SPELLED):
        return _group(name, sentence)
    return _command(name, SPELLED.get(name) or Spelling(name))


def _group(name: str, sentence: str) -> click.Group:
    group = Group(name, help=sentence, otherwise=MEANT.get(name, "list"))
    noun = NOUNS.get(name, name)
    spellings = {path: spelling for path, spelling in SPELLED.items() if path.startswith(f"{name} ")}
    operations = (spelling.operation for spelling in spellings.values())
    spelled = {named if isinstance(named, str) else named.name for named in operations}
    for operation in OPERATIONS.values():
        if operation.noun == noun and operation.command is None and operation.name not in spelled:
            spellings[f"{name} {operation.action}"] = Spelling(operation.name)
    for path, spelling in spellings.items():
        group.add_command(_command(path.rpartition(" ")[2], spelling))
    return group


def variant(name: str, calls: Callable[..., Any], **more: Any) -> Operation:
    """An operation of the table as the command line carries it out: another function does it."""
    return replace(OPERATIONS[name], calls=calls, **more)


def presented(
    name: str,
    spelling: Spelling,
    *,
    with_json: bool = False,
    prepare: Callable[..., dict[str, Any]] | None = None,
) -> Callable[[Callable[..., None]], Callable[[], click.Command]]:
    """What makes the command of an operation, when it is used: until then nothing of the operation is loaded.

    A command of an operation whose answer a function shows to a person, while the memory is still open.

    The function gets the run, what came, and by their names the options that stand above it; its docstring is
    the help. With --json what came is printed as it is, unless the function says that too (`with_json`).
    `prepare` gets what was said before the memory is opened, and gives back what the operation is told.
    """

    def decorate(show: Callable[..., None]) -> Callable[[], click.Command]:
        own: list[click.Parameter] = [*reversed(getattr(show, "__click_params__", []))]
        return partial(_command, name, spelling, Presentation(show, tuple(own), with_json, prepare))

    return decorate


def _command(name: str, spelling: Spelling, shown: Presentation | None = None) -> click.Command:
    operation = (
        spelling.operation if isinstance(spelling.operation, Operation) else OPERATIONS[spelling.operation]
    )
    own = shown.own if shown else ()
    asked = {parameter.name: parameter for parameter in _parameters_of(operation, spelling)}
    placed = {word.rstrip("?*+"): word for word in _places(spelling, asked)}
    params: list[click.Parameter] = [_argument(asked[name], word) for name, word in placed.items()]
    params += [
        _option(parameter, spelling.flags.get(parameter.name, ""))
        for parameter in asked.values()
        if parameter.name not in {*placed, *PLACE, FILTERS}
    ]
    narrowing = _filter_parameters() if FILTERS in asked else {}
    params += [_option(parameter, "") for parameter in narrowing.values()]

    def call(run: CommandRun, **values: Any) -> None:
        own_values = {option.name: values.pop(option.name) for option in own if option.name}
        words_given = {name.removeprefix(ASKED): value for name, value in values.items()}
        narrowed = {
            name: _filter_value(name, parameter, words_given.pop(parameter.name))
            for name, parameter in narrowing.items()
        }
        filters = {name: value for name, value in narrowed.items() if value is not None}
        show = partial(shown.show, **own_values) if shown and not (run.json and not shown.with_json) else None
        for word, place in placed.items():  # words may come through a pipe
            if place.endswith("+") and not words_given[word]:
                words_given[word] = text_or_stdin((), word)
        run.arguments = _arguments(run, operation, spelling, asked, words_given)
        run.arguments |= {FILTERS: Filters(**filters)} if FILTERS in asked else {}
        if shown and shown.prepare:
            run.arguments = shown.prepare(run, run.arguments)
        for parameter in asked.values():
            if parameter.is_needed and parameter.name not in MAY_BE_EMPTY | run.arguments.keys():
                raise click.UsageError(f"{_called(parameter).upper()} is empty.", click.get_current_context())
        _run_operation(run, operation, spelling, show)

    words = getdoc(shown.show) if shown else operation.sentence
    return Command(name, params=[*params, *own], callback=pass_run(call), help=words)


def _filter_value(name: str, parameter: Parameter, value: Any) -> Any:
    """What a filter is to be; None when nothing was said."""
    if value in (None, (), ""):
        return None
    if not isinstance(value, tuple):
        return value
    return (
        dict(value)
        if _is_mapping(parameter)
        else reader(parameter.hint, Style.JSON)(name, list(split(value)))
    )


def _parameters_of(operation: Operation, spelling: Spelling) -> Iterator[Parameter]:
    """What a command asks for: of the fields of a memory, which REST takes beside, only if it is to."""
    unasked = {"scope", *spelling.fixed, *spelling.without}
    for parameter in operation.parameters:
        if parameter.name not in unasked and (spelling.fields or parameter.name in operation.own):
            words = spelling.choices.get(parameter.name)
            yield replace(parameter, says=replace(parameter.says, choices=words)) if words else parameter


def _places(spelling: Spelling, asked: Mapping[str, Parameter]) -> list[str]:
    if spelling.places:
        return spelling.places.split()
    needed = [
        parameter.name
        for parameter in asked.values()
        if parameter.is_needed and parameter.name not in spelling.flags
    ]
    return [f"{name}*" if name in WORDS and name == needed[-1] else name for name in needed]


def _argument(parameter: Parameter, place: str) -> click.Argument:
    many, needed = place.endswith(("*", "+")), not place.endswith(("?", "*", "+"))
    metavar = _called(parameter).upper()
    metavar = f"[{metavar}]" if place.endswith("?") else f"{metavar}…" if many else metavar
    kind = _kind(parameter) if not many else None
    return click.Argument(
        [f"{ASKED}{parameter.name}"], nargs=-1 if many else 1, required=needed, type=kind, metavar=metavar
    )


def _called(parameter: Parameter) -> str:
    return "id" if parameter.name.endswith("_id") else parameter.name


def _option(parameter: Parameter, flags: str) -> click.Option:
    spelled = flags or parameter.says.flags or f"--{parameter.name.replace('_', '-')}"
    spelled, _, meaning = spelled.partition("|")
    name, _, value = spelled.partition("=")
    more: dict[str, Any] = {"help": meaning or parameter.says.sentence}
    if not parameter.is_needed:
        more["default"] = None
    if value:
        more |= {"is_flag": True, "flag_value": value, "type": str}
    elif bool in (kinds := options(parameter.hint)):
        if type(None) in kinds and "/" not in name:
            name = f"{name}/--no-{parameter.name.replace('_', '-')}"
        more |= {"is_flag": True, "required": parameter.is_needed}
    else:
        many = _is_list(parameter) or _is_mapping(parameter)
        more |= {"type": _kind(parameter), "multiple": many, "required": parameter.is_needed}
        more |= {"metavar": _metavar(parameter)} if not isinstance(more["type"], click.Choice) else {}
        if isinstance(parameter.default, int | float) and parameter.default is not None:
            more |= {"help": f"{parameter.says.sentence}  [default: {parameter.default}]"}
    return click.Option([f"{ASKED}{parameter.name}", *name.split()], **more)


def _kind(parameter: Parameter) -> Any:
    if parameter.says.choices:
        return click.Choice(parameter.says.choices)
    if _is_mapping(parameter):
        return KeyValue()
    for kind in (part for whole in options(parameter.hint) for part in (whole, *get_args(whole))):
        if isinstance(kind, type) and issubclass(kind, Enum):
            return one_of(kind)
        if kind is datetime:
            return MomentOption(ahead=parameter.name in AHEAD)
        if kind in (int, float):
            return kind
    return str


def _is_list(parameter: Parameter) -> bool:
    return any((get_origin(kind) or kind) in LISTS for kind in options(parameter.hint))


def _is_mapping(parameter: Parameter) -> bool:
    return any((get_origin(kind) or kind) in (dict, Mapping) for kind in options(parameter.hint))


def _metavar(parameter: Parameter) -> str | None:
    kind = _kind(parameter)
    if isinstance(kind, MomentOption):
        return "TIME"
    if isinstance(kind, KeyValue):
        return None
    if kind is float and parameter.says.most == 1:
        return "0..1"
    return "N" if kind in (int, float) else "TEXT"


def _arguments(
    run: CommandRun,
    operation: Operation,
    spelling: Spelling,
    asked: Mapping[str, Parameter],
    values: Mapping[str, Any],
) -> dict[str, Any]:
    """The arguments of the operation: from the command line, fixed by the spelling, and the place."""
    # Nothing is said by an empty word, but that a memory is to have no content: the engine refuses it.
    arguments = {
        name: _value(asked[name], value)
        for name, value in values.items()
        if value not in (None, (), "", ("",)) or (value == "" and name == "content")
    }
    for name, parameter in asked.items():  # words may come through a pipe
        if parameter.is_needed and name not in arguments and name in WORDS and not _is_list(parameter):
            words = text_or_stdin(values.get(name) or (), name)
            arguments |= {name: words} if words or name in MAY_BE_EMPTY else {}
    for name in PLACE:
        if name in asked and name not in arguments and getattr(run, name):
            arguments[name] = getattr(run, name)
    if any(parameter.name == "scope" for parameter in operation.parameters):
        arguments["scope"] = run.scope
    return {**arguments, **spelling.fixed}


def _run_operation(
    run: CommandRun, operation: Operation, spelling: Spelling, show: Callable[..., None] | None
) -> None:
    with run.open(whole_file=operation.owner, makes=_may_make_file(operation)) as memory:
        if operation.tells_progress:
            with steps(run, operation.action) as counting:
                result = operation.run(memory, run.arguments, progress=counting.reach)
        else:
            result = operation.run(memory, run.arguments)
        if show is not None:
            run.memory = memory
            show(run, result)
    if show is None:
        _say_result(run, operation, spelling, result, run.arguments)
    empty, fails = _is_empty(result), spelling.fails
    if fails(result) if callable(fails) else (empty and fails) or (not empty and fails is None):
        raise click.exceptions.Exit(NOT_FOUND)


def _value(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, tuple):
        if _is_mapping(parameter):
            return dict(value)
        if not _is_list(parameter):
            return text_or_stdin(value, parameter.name)
        return split(value) if parameter.name == "tags" else value
    if bool in options(parameter.hint) and isinstance(value, str):
        return value == "true"
    return value


def _may_make_file(operation: Operation) -> bool:
    """Whether it brings something in, and so may make a file that is not there."""
    if operation.reads or any(name.endswith(("memory_id", "source")) for name in operation.own):
        return False
    makes = operation.noun in ("sessions", "sources") or operation.name == "observe"
    return makes or operation.status == 201  # noqa: PLR2004 (created, in HTTP's words)


def _say_result(
    run: CommandRun, operation: Operation, spelling: Spelling, result: Any, arguments: Mapping[str, Any]
) -> None:
    empty = _is_empty(result)
    if run.json:
        say_json({operation.gives: result} if operation.gives else result)
    elif empty and spelling.none:
        say(run, text((_fill_words(spelling.none, result, arguments), "bold")))
    elif not empty:
        _show(run, _fill_words(spelling.done, result, arguments), result)
        if spelling.hint and not run.quiet:
            say(run, text((f"  {_fill_words(spelling.hint, result, arguments)}", "dim")))


def _is_empty(result: Any) -> bool:
    if isinstance(result, dict):
        return not any(result.values())
    return (
        result is None
        or result is False
        or (isinstance(result, list | tuple) and not result)
        or _is_unwritten(result)
    )


def _is_unwritten(result: Any) -> bool:
    """Whether something that was to be worked out is not there yet."""
    parts = ("traits", "domains", "lines", "paragraph", "text")
    if type(result).__module__ != "engram.model.knowledge" or hasattr(result, "name"):
        return False
    return not any(getattr(result, name) for name in parts if hasattr(result, name))


def _fill_words(words: str, result: Any, arguments: Mapping[str, Any]) -> str:
    """Words with what they name: a field of what came, or of what was said."""
    done, _, would = words.partition("|")
    words = would if would and arguments.get("dry") else done
    if "{" not in words:
        return words
    fields = {name: str(value) for name, value in arguments.items()}
    if hasattr(result, "pinned"):
        fields["pinned"] = "pinned" if result.pinned else "unpinned"
    for name in ("id", "layer", "status", "state"):
        if hasattr(result, name):
            fields[name] = str(getattr(result, name))[:8] if name == "id" else str(getattr(result, name))
    return line(words.format(**fields))


def _show(run: CommandRun, done: str, result: Any) -> None:
    from engram.cli import views

    if result is True:
        say(run, text((done, "bold green")))
    elif isinstance(result, list | tuple) and result and isinstance(result[0], dict):
        _show_conflicts(run, result)
    elif isinstance(result, list | tuple):
        if done and not run.quiet:
            say(run, text((done, "bold green")))
        views.say_many(run, result)
    elif isinstance(result, dict):
        for part in result.values():
            if part:
                views.say_many(run, part)
    else:
        views.say_one(run, done, result)


def _show_conflicts(run: CommandRun, conflicts: Sequence[Mapping[str, Any]]) -> None:
    from engram.cli.views import id_of

    pairs = [(conflict["a"], conflict["b"]) for conflict in conflicts]
    facts = [f"{a.fact.subject} {a.fact.predicate} {a.fact.object}" for a, _ in pairs]
    rows = [
        (id_of(a.memory), id_of(b.memory), text(line(fact), (" or ", "dim"), line(b.fact.object)))
        for (a, b), fact in zip(pairs, facts, strict=True)
    ]
    say(run, table(("a", "b", "fact"), rows))
