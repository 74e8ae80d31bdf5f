"""An operation: something that can be done from outside, described once. The doors are made from it.

A row of the table names a verb of the engine (`recall`) or of a noun of it (`facts.add`). What the verb takes
and gives is read from its signature, what each parameter means from the sentences below; the row adds a
sentence, where REST serves it and what is special. Reading the table loads no engine: a verb is looked up
when it is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import Enum
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from engram.lazily import dataclass
from engram.model.capture import Draft
from engram.model.plain import Says
from engram.operations.values import LISTS, Parameter, fields_of, parameters_of

if TYPE_CHECKING:
    from engram.engine import Engram


NOUNS: Mapping[str, str] = {
    "backups": "engram.api.vault:Backups",
    "": "engram.engine:Engram",
    "bus": "engram.api.bus:Bus",
    "commitments": "engram.api.commitments:Commitments",
    "conflicts": "engram.api.conflicts:Conflicts",
    "entities": "engram.api.facts:Entities",
    "facts": "engram.api.facts:Facts",
    "gaps": "engram.api.gaps:Gaps",
    "history": "engram.api.verbs:History",
    "knowledge": "engram.api.knowledge:Knowledge",
    "maintenance": "engram.api.verbs:Maintenance",
    "memories": "engram.api.verbs:MemoryActions",
    "sessions": "engram.api.sessions:Sessions",
    "sources": "engram.api.sources:Sources",
    "tokens": "engram.api.caller:Tokens",
    "trash": "engram.api.browsing:Trash",
    "triggers": "engram.api.commitments:Triggers",
    "vault": "engram.api.vault:Vault",
}
"""Where the classes are whose methods are verbs; empty: the engine itself."""
CALLS = "engram.operations.calls"
"""Where the functions are that are more than one verb; their first argument is the memory."""
PLACED = re.compile(r"{(\w+)(?::\w+)?}")


def verb_of(name: str) -> Callable[..., Any]:
    """The method that is a verb of the engine, or of a noun of it. Raises AttributeError where none is."""
    noun, _, verb = name.rpartition(".")
    module, _, kind = NOUNS[noun].partition(":")
    return attrgetter(f"{kind}.{verb}")(import_module(module))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Operation:
    """One row: what can be done, and how it is offered."""

    name: str
    """The verb, as Python calls it: `recall`, `facts.add`."""
    sentence: str
    """What it does, in a line."""
    rest: str | tuple[str, ...] = ()
    """`POST /v1/facts`; where clients know several, the first is the one to use and the others are named:
    `GET /v1/recall as recall_by_address`. Empty: not over REST."""
    calls: str | Callable[..., Any] = ""
    """Which verb or function of `calls.py` does it, where that is not the name itself; or the function."""
    gives: str = ""
    """Under which name the answer stands, where the verb gives back a bare list or value."""
    tool: str | None = None
    """The tool that has it as an action; None: the one of its noun, empty: no agent is offered it."""
    tool_gives: str = ""
    """The same as `gives` in the answer of a tool, where that is another."""
    command: str | None = None
    """How the command line calls it; None: by its name, empty: not at all, or by a command made by hand."""
    reads: bool = False
    """Whether it changes nothing."""
    destroys: bool = False
    """Whether it may take something away."""
    repeats: bool = True
    """Whether doing it again with the same arguments changes nothing more."""
    long: bool | None = None
    """Whether it may wait long for something outside; None: if it writes."""
    owner: bool = False
    """Whether REST lets only an owner do it; the engine itself asks for more where it must."""
    status: int = 200
    fields: str = ""
    """`draft` or `changes`: it takes the fields of a memory beside its own parameters."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names of parameters, as clients know them."""
    by_agents: Mapping[str, Any] = field(default_factory=dict)
    """What is set for agents, who cannot say it themselves."""
    bare: str = ""
    """The parameter that a body that is no object, but a list, stands for."""
    example: Mapping[str, Any] = field(default_factory=dict)
    media: str = "application/json"
    takes: str = "application/json"

    @property
    def noun(self) -> str:
        """What it hangs on; empty: the memory itself."""
        return self.name.rpartition(".")[0]

    @property
    def action(self) -> str:
        """Its name among those of its noun."""
        return self.name.rpartition(".")[2]

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where REST serves it."""
        return (self.rest,) if isinstance(self.rest, str) else self.rest

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The function: a verb of the engine or of a noun, or one that takes the memory first."""
        if callable(self.calls):
            return self.calls
        if self.calls.startswith("calls."):
            function: Callable[..., Any] = getattr(import_module(CALLS), self.calls.removeprefix("calls."))
            return function
        return verb_of(self.calls or self.name)

    @cached_property
    def own(self) -> frozenset[str]:
        """The names of what it asks for itself; beside that it may take the fields of a memory."""
        return frozenset(parameter.name for parameter in parameters_of(self.call))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What may be said, each with its sentence and range."""
        more = (parameter for parameter in fields_for(self.fields) if parameter.name not in self.own)
        return tuple(
            replace(parameter, says=said(self.name, parameter))
            for parameter in (*parameters_of(self.call), *more)
        )

    def example_of(self, parameter: Parameter) -> Any:
        """A value that one of its parameters may have; None where only its kind can be told."""
        if parameter.name in self.example:
            return self.example[parameter.name]
        kinds = [kind for kind in get_args(parameter.hint) or (parameter.hint,) if isinstance(kind, type)]
        members = (next(iter(kind)).value for kind in kinds if issubclass(kind, Enum))
        keys: tuple[str | type, ...] = (*kinds, parameter.name)
        examples = [*parameter.says.choices, *members, *(EXAMPLES[key] for key in keys if key in EXAMPLES)]
        if not examples:
            return parameter.says.least
        is_item = get_origin(parameter.hint) in LISTS and not isinstance(examples[0], list)
        return examples[:1] if is_item else examples[0]

    @cached_property
    def result(self) -> Any:
        """The type of what comes out."""
        return get_type_hints(self.call).get("return", Any)

    @cached_property
    def tells_progress(self) -> bool:
        """Whether it can say how far it has come."""
        code = self.call.__code__
        return "progress" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    def run(self, memory: Engram, arguments: Mapping[str, Any], **beside: Any) -> Any:
        """Do it."""
        if callable(self.calls) or self.calls.startswith("calls."):
            return self.call(memory, **arguments, **beside)
        return attrgetter(self.calls or self.name)(memory)(**arguments, **beside)


LIMIT = Says("At most so many.", least=1, most=1_000, flags="-n --limit")

WORDS: Mapping[str, Says] = {
    "about": Says("A topic: what the answer should be about."),
    "gaps.ask.about": Says("Names that the talk is about now: their questions come first."),
    "after": Says("Go on after this number.", least=0, most=2**53),
    "history.news.after": Says("A place from an earlier answer."),
    "agent": Says("Whose session it is."),
    "agents": Says("Only these agents."),
    "also_in_use": Says("Also what was used recently."),
    "apart": Says("Keep it as a memory of its own, even if the same is known."),
    "apply": Says("Challenge or invalidate memories with dead references; undo takes it back."),
    "as_of": Says("What was known then, ISO 8601."),
    "assistant": Says("What was answered."),
    "assistant_name": Says("Who answered."),
    "at": Says("Since when, ISO 8601; now when it is left out."),
    "because": Says("Why; the history keeps it."),
    "before": Says("Only what is older: the id of an event from an earlier page."),
    "trash.purge.before": Says("Only what was thrown away before then, ISO 8601."),
    "believed": Says("Whether it is taken as true; false keeps it as something that was only said."),
    "budget": Says("At most so many tokens.", least=1),
    "resume.budget": Says("At most so many characters; by default more as the memory grows.", least=1),
    "category": Says("preference, decision, fact, procedure … or a name of your own.", flags="-c --category"),
    "commitment_id": Says("The commitment, or the first characters of its id."),
    "confidence": Says("How sure it is.", least=0, most=1),
    "content": Says("One self-contained statement."),
    "update.content": Says("The new words."),
    "sessions.hold.content": Says("What to keep in mind."),
    "cursor": Says("The cursor of the page before."),
    "daily": Says("Day by day."),
    "days": Says("So many days back.", least=1, most=3_650),
    "depth": Says("How many levels deep a question is taken apart.", least=1, most=5),
    "details": Says("Anything else worth keeping, by name.", flags="--detail"),
    "directory": Says("The directory; by default the one that the setting doubt.directory names."),
    "dry": Says("Only say what would happen."),
    "due": Says("A time, or words: by Friday."),
    "earlier": Says("Also what was offered before."),
    "event_time": Says("When it happened, ISO 8601.", flags="--at"),
    "expires_at": Says("When it expires, ISO 8601.", flags="--expires"),
    "fact": Says("Which fact, when the memory states several: subject, predicate and object."),
    "filters": Says("Conditions that all hold."),
    "findings": Says("What was found, one finding each."),
    "form": Says("How much: full, or compact in a quarter of the room.", choices=("full", "compact")),
    "format": Says("How the text is written.", choices=("auto", "markdown", "text")),
    "sources.upload.format": Says("The format; auto looks at the file."),
    "full": Says("Write the whole file anew."),
    "functional": Says("Whether there is one object at a time."),
    "gap_id": Says("The key of the question."),
    "goal": Says("Only paths that lead to this name."),
    "helpful": Says("Whether it helped."),
    "history": Says("The conversation so far, as messages with role and content."),
    "facts.query.history": Says("Also facts that no longer hold."),
    "hops": Says("At most so many facts in a row.", least=1, most=5),
    "id": Says("An id of your own; the agent's last sleeping session when it is left out."),
    "id_a": Says("The first of the two memories."),
    "id_b": Says("The second of the two memories."),
    "importance": Says("How much it matters.", least=0, most=1),
    "keep": Says("Which one stands.", choices=("a", "b", "both", "merge")),
    "entities.merge.keep": Says("The entity that stays."),
    "kind": Says(
        "Which sort of knowledge it is: episodic, semantic, procedural, codebase.", flags="-k --kind"
    ),
    "layer": Says("The layer it begins in: buffer, working or core."),
    "lessons": Says("What it taught."),
    "limit": LIMIT,
    "memories": Says("Many statements: all or none are kept; with `partial`, each that can be."),
    "memory_id": Says("The memory, by its id or the first characters of it."),
    "memory_ids": Says("The memories, by their ids."),
    "message": Says("What the user says."),
    "settings": Says("Settings by their whole name, such as `recall.limit`, and their new values."),
    "message_id": Says("An id of the message: sent again, it counts once."),
    "messages": Says("Chat messages with role and content."),
    "min_importance": Says("Only memories of at least this importance.", least=0, most=1),
    "model": Says("The language model it is for."),
    "name": Says("A name."),
    "sources.task.name": Says("The task."),
    "sources.flow.name": Says("The flow."),
    "sources.upload.name": Says(
        "The name of the file; sent again under this name, only changes are taken in."
    ),
    "sessions.learn.name": Says("The flow."),
    "tokens.create.name": Says("What the token is for."),
    "object": Says("Whom or what the fact is about."),
    "offset": Says("Skip so many.", least=0),
    "on": Says("Whom or what it waits for."),
    "other": Says("The other name."),
    "outcome": Says("How it ended."),
    "commitments.close.outcome": Says("done or dropped.", choices=("done", "dropped")),
    "pages": Says("entity:NAME, tag:TAG, category:NAME, memory:ID or origin:BEGINNING."),
    "partial": Says("Keep what can be kept and refuse the others one by one."),
    "pinned": Says("Never forget it.", flags="--pin"),
    "memories.pin.pinned": Says("False lets it go again."),
    "person": Says("A name; all other names of the same person go too."),
    "policy": Says("What forgetting may do with it."),
    "predicate": Says("What the subject is or does: lives in, works at."),
    "prefix": Says("Only names that begin with this."),
    "priority": Says("P0 to P3: P0 is in every prompt, P2 and P3 leave packs in time."),
    "project": Says("The project."),
    "publication_id": Says("The offer."),
    "query": Says("A question in plain words."),
    "feedback.query": Says("The question it came for; questions like it leave it out."),
    "sources.research.query": Says("What was looked for."),
    "question": Says("A question in plain words."),
    "rate": Says("At most so many copies in one delivery.", least=1, most=1_000),
    "records": Says("What `export` wrote."),
    "reply": Says("What was answered."),
    "result": Says("What came of it, or what went wrong."),
    "revoked": Says("Also those that were revoked."),
    "role": Says("What its bearer may do."),
    "rules": Says("Ask no model."),
    "run_id": Says("The run of maintenance."),
    "scope": Says("Where: the part of the memory to look at or to write to."),
    "sections": Says("What the prompt is made of."),
    "session": Says("The conversation."),
    "session_id": Says("The session."),
    "since": Says("Only since then, ISO 8601."),
    "source": Says("Where it comes from: human, agent, import …"),
    "relate.source": Says("The memory that the relation starts from."),
    "memories.unrelate.source": Says("The memory that the relation starts from."),
    "speaker": Says("Who said it."),
    "stages": Says("Only these stages."),
    "start": Says("The name to begin with."),
    "state": Says("Only in this state; by default all that are not closed."),
    "status": Says("active, challenged, invalidated, archived …"),
    "steps": Says("What it did in order: a name each, or name, outcome and result."),
    "subject": Says("Who or what the fact is about."),
    "subscription_id": Says("The subscription."),
    "summary": Says("What it came to."),
    "system": Says("The agent's own prompt."),
    "tags": Says("Words to find it by.", flags="-t --tag --tags"),
    "target": Says("The other memory."),
    "tasks": Says("What is to be done today."),
    "text": Says("The text."),
    "commitments.open.text": Says("What is to be done."),
    "gaps.answer.text": Says("What the user said."),
    "tier": Says("How secret it is."),
    "time": Says("When it was said, ISO 8601."),
    "timezone": Says("Where the user is: Europe/Oslo, or +02:00."),
    "title": Says("The name of the text; given again under this name, changes replace what was there."),
    "to": Says("Who may receive it."),
    "token_id": Says("The token."),
    "topics": Says("What it is about."),
    "bus.subscribe.topics": Says("One of these; none: all."),
    "trigger_id": Says("The trigger."),
    "turns": Says("The turns, by their keys."),
    "type": Says("What sort of statement it is."),
    "relate.type": Says("The relation: what the first is to the second."),
    "memories.unrelate.type": Says("The relation: what the first is to the second."),
    "entities.list.type": Says("person, project, technology …"),
    "until": Says("Only before then, ISO 8601."),
    "urls": Says("Where it was found."),
    "user": Says("What the user said."),
    "valid_from": Says("Since when it holds, ISO 8601."),
    "valid_to": Says("Until when it holds, ISO 8601."),
    "vectors": Says("Include the vectors of the present model."),
    "waiting_on": Says("Whom or what it waits for."),
    "weight": Says("How close they are.", least=0, most=1),
    "words": Says("Words or phrases."),
    "workspace": Says("Leave out what belongs to another workspace."),
}


_MOMENT, _TALK = "2026-03-15T09:00:00+00:00", [{"role": "user", "content": "From now on I use Helix."}]
EXAMPLES: Mapping[str | type, Any] = {
    **dict.fromkeys(("memory_id", "target", "publication_id"), "7f3a91c2"), "known": ["7f3a91c2"],
    **dict.fromkeys(("gap_id", "commitment_id", "trigger_id", "subscription_id", "run_id"), "b41d09e7"),
    **dict.fromkeys(("session", "session_id", "message_id"), "monday"), "token_id": "laptop",
    **dict.fromkeys(("project", "workspace"), "apollo"), "scope": {"project": "apollo"}, "agents": ["rex"],
    "limit": 20, "budget": 4000, "after": 0, "importance": 0.8, "confidence": 0.9, "weight": 1.0,
    "min_relevance": 0.2, "subject": "anna", "predicate": "lives_in", "object": "rome",
    "prefix": "An", "goal": "rome", "waiting_on": "Ben", "on": "Ben", "assistant_name": "Rex",
    "memories": ["My editor is Helix"], "messages": _TALK, "history": _TALK, "about": "my editor",
    "category": "preference", "tags": ["tools"], "details": {"page": "4"}, "source": "human",
    "filters": {"categories": ["preference"]}, "because": "more exact", "result": "It worked.",
    "tasks": ["book the train"], "pages": ["team.md"], "stages": ["merge"], "due": _MOMENT,
    "speaker": "Anna", "name": "Anna", "timezone": "Europe/Berlin", bool: True, datetime: _MOMENT,
}  # fmt: skip
"""What a parameter may be, by its name or kind, where its operation gives no example of its own."""


def said(operation: str, parameter: Parameter) -> Says:
    """What a parameter of an operation means."""
    if parameter.says.sentence:
        return parameter.says
    return WORDS.get(f"{operation}.{parameter.name}") or WORDS.get(parameter.name) or parameter.says


def fields_for(kind: str) -> tuple[Parameter, ...]:
    """The fields of a memory that an operation takes beside its own parameters."""
    if kind == "draft":
        return tuple(parameter for parameter in fields_of(Draft) if parameter.name != "content")
    if kind == "changes":
        from engram.capture.change import CHANGEABLE  # it loads all that reads a text

        return tuple(
            replace(parameter, default=None) for parameter in fields_of(Draft) if parameter.name in CHANGEABLE
        )
    return ()
