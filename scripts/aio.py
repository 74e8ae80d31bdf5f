"""Write src/engram/aio from the facade: every class that does something gets a twin whose verbs are awaited.

`python scripts/aio.py` writes the modules; with `--check` it only says which are stale, by exit code 1.

What a verb gives back decides its twin: a value comes as it is, an iterator comes item by item, and a class
with verbs of its own (a noun, a session) comes as its own twin. So a new verb or noun needs nothing here.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, cast

from engram.engine import Engram

FOLDER = Path(__file__).parents[1] / "src" / "engram" / "aio"
NOTE = "# Written by scripts/aio.py from the facade. Change that, then run `make docs`.\n"
BY_HAND = frozenset({"__init__.py", "threads.py"})
CALLBACK = "progress"
"""An argument of this name is called by a thread; its twin is called in the event loop."""

Written = dict[Path, str]


def main(arguments: list[str]) -> int:
    """Write the modules, or say which are stale."""
    made = modules()
    stale = {path: text for path, text in made.items() if not is_fresh(path, text)}
    gone = [path for path in FOLDER.glob("*.py") if path.name not in BY_HAND and path not in made]
    if "--check" in arguments:
        for path in (*stale, *gone):
            print(f"src/engram/aio/{path.name} is out of date: run `make docs`.", file=sys.stderr)
        return 1 if stale or gone else 0
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"src/engram/aio/{path.name} written.")
    for path in gone:
        path.unlink()
    return 0


def is_fresh(path: Path, text: str) -> bool:
    """Whether the module on disk says what it should."""
    return path.is_file() and path.read_text(encoding="utf-8") == text


def modules() -> Written:
    """Each module of the twins and what it should say."""
    pages: dict[str, Page] = {}
    for kind in handles(Engram):
        pages.setdefault(home_of(kind), Page()).add(kind)
    paths = {FOLDER / f"{name}.py": page.text() for name, page in pages.items()}
    return {path: laid_out(path, text) for path, text in paths.items()}


def handles(root: type) -> list[type]:
    """The classes that get a twin: the facade and whatever its verbs hand out that has verbs too."""
    found, waiting = [], [root]
    while waiting:
        kind = waiting.pop(0)
        if kind not in found:
            found.append(kind)
            waiting += [given for verb in verbs_of(kind) if (given := verb.gives) is not None]
    return found


def laid_out(path: Path, text: str) -> str:
    """A module with imports sorted and lines broken as everywhere in the project."""
    for command in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format"]):
        full = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        text = subprocess.run(  # noqa: S603 (our own words)
            full, input=text, capture_output=True, check=True, encoding="utf-8", cwd=FOLDER
        ).stdout
    return text


# ---------------------------------------------------------------- what a class offers


@dataclass(frozen=True)
class Verb:
    """One public thing a class offers, and its source."""

    name: str
    made: Any
    """What stands in the class: a function, a property, a class method."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function behind it."""
        for name in ("fget", "func", "__func__"):
            if (inner := getattr(self.made, name, None)) is not None:
                return cast("Callable[..., Any]", inner)
        return cast("Callable[..., Any]", self.made)

    @property
    def is_property(self) -> bool:
        """Whether it is asked for without a call."""
        return isinstance(self.made, property | functools.cached_property)

    @functools.cached_property
    def tree(self) -> ast.FunctionDef:
        """Its signature and docstring as they are written."""
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.function))).body[0]
        assert isinstance(tree, ast.FunctionDef)  # noqa: S101 (it comes from a class)
        return tree

    @property
    def words(self) -> str:
        """Its docstring."""
        return ast.get_docstring(self.tree) or ""

    @property
    def gives(self) -> type | None:
        """The class of what it gives, if that has a twin."""
        if isinstance(self.tree.returns, ast.Name):
            given = Names(self.function.__module__).value(self.tree.returns.id)
            return given if is_handle(given) else None
        return None

    @property
    def item(self) -> str:
        """What it gives one by one, when it gives an iterator."""
        match self.tree.returns:
            case ast.Subscript(value=ast.Name(id="Iterator" | "Generator"), slice=item):
                return ast.unparse(item)
        return ""


def verbs_of(kind: type) -> list[Verb]:
    """What a class offers, in its order, with what it has from its parents."""
    found = {
        name: Verb(name, made)
        for parent in reversed(kind.mro()[:-1])
        for name, made in vars(parent).items()
        if not name.startswith("_")
        and isinstance(made, FunctionType | classmethod | property | functools.cached_property)
    }
    return [*found.values()]


def is_handle(given: Any) -> bool:
    """Whether this is a class of ours that does something, not a value."""
    if not isinstance(given, type) or not given.__module__.startswith("engram.") or issubclass(given, Enum):
        return False
    if getattr(given, "_is_protocol", False):  # a part that anybody may bring: it is handed out as it is
        return False
    settled = getattr(given, "__dataclass_params__", None)
    return (settled is None or not settled.frozen) and bool(verbs_of(given))


def twin(kind: type) -> str:
    """The name of a class's twin."""
    return f"Async{kind.__name__}"


def home_of(kind: type) -> str:
    """The module that a twin stands in."""
    return "facade" if kind is Engram else kind.__module__.rpartition(".")[2]


# ---------------------------------------------------------------- where names come from


@functools.cache
class Names:
    """The names a module of ours knows, and how to import each."""

    def __init__(self, module: str) -> None:
        self._name = module
        self._module: ModuleType = importlib.import_module(module)
        self._lines: dict[str, tuple[str, bool]] = {}
        for node in ast.parse(inspect.getsource(self._module)).body:
            late = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in node.body if isinstance(node, ast.If) and late else [node]:
                self._learn(inner, late=late)

    def _learn(self, node: ast.stmt, *, late: bool) -> None:
        match node:
            case ast.ImportFrom(module=str(source), names=names):
                for alias in names:
                    line = f"from {source} import {ast.unparse(alias)}"
                    self._lines[alias.asname or alias.name] = line, late
            case ast.Import(names=names):
                for alias in names:
                    self._lines[alias.asname or alias.name] = f"import {ast.unparse(alias)}", late

    def line(self, name: str) -> tuple[str, bool] | None:
        """How to import a name, and whether for types only; None for a builtin."""
        if name in self._lines:
            return self._lines[name]
        return (f"from {self._name} import {name}", False) if hasattr(self._module, name) else None

    def value(self, name: str) -> Any:
        """What a name stands for."""
        line = self._lines.get(name)
        if line is None or hasattr(self._module, name):
            return getattr(self._module, name, None)
        source = line[0].split()[1]
        return getattr(importlib.import_module(source), name, None)


# ---------------------------------------------------------------- the page


@dataclass
class Page:
    """One module of twins in the making."""

    imports: set[str] = field(default_factory=set)
    late: set[str] = field(default_factory=set)
    body: list[str] = field(default_factory=list)
    kinds: list[type] = field(default_factory=list)

    def text(self) -> str:
        """The whole module."""
        told = " and ".join(f"`{kind.__name__}`" for kind in self.kinds)
        late = [f"    {line}" for line in sorted(self.late - self.imports)]
        return "\n".join(
            [
                NOTE,
                f'"""The twin of {told}: the same verbs, awaited."""',
                "from __future__ import annotations",
                *sorted(self.imports),
                *(["if TYPE_CHECKING:", *late] if late else []),
                *self.body,
            ]
        )

    def add(self, kind: type) -> None:
        """A class comes in; its twin is written."""
        self.kinds.append(kind)
        self.imports |= {
            "from typing import TYPE_CHECKING, Any, Self",
            "from types import TracebackType",
            "from collections.abc import AsyncIterator",
            "from engram.aio.threads import Opening, Threads, beginning, opening",
            f"from {kind.__module__} import {kind.__name__}",
        }
        self.body += [
            f"class {twin(kind)}:",
            f'    """`{kind.__name__}` for asyncio: the same verbs, awaited."""',
            f"    def __init__(self, inner: {kind.__name__}, threads: Threads) -> None:",
            "        self._inner = inner",
            "        self._threads = threads",
        ]
        for verb in verbs_of(kind):
            self.body += [textwrap.indent(line, "    ") for line in self._verb(verb, kind)]
        if hasattr(kind, "__enter__"):
            self.body += self._entered(kind)

    def _verb(self, verb: Verb, kind: type) -> Iterator[str]:
        self._learn(verb)
        shape = shape_of(verb, kind)
        end = "\n" if "\n" in verb.words else ""
        yield from shape.above
        yield f"{shape.way} {verb.name}({ast.unparse(verb.tree.args)}) -> {shape.returns}:"
        yield textwrap.indent(f'"""{verb.words}{end}"""', "    ")
        yield f"    {shape.body}"
        if isinstance(verb.made, property) and verb.made.fset is not None:
            setter = Verb(verb.name, verb.made.fset)
            self._learn(setter)
            yield f"@{verb.name}.setter"
            yield f"def {verb.name}({ast.unparse(setter.tree.args)}) -> None:"
            yield f"    self._inner.{verb.name} = {setter.tree.args.args[1].arg}"

    def _learn(self, verb: Verb) -> None:
        """Import what a signature names."""
        names = Names(verb.function.__module__)
        returns = [verb.tree.returns] if verb.tree.returns and verb.gives is None else []
        for part in (verb.tree.args, *returns):
            for node in ast.walk(part):
                line = names.line(node.id) if isinstance(node, ast.Name) else None
                if line is not None:
                    (self.late if line[1] else self.imports).add(line[0])
        if verb.gives is not None and home_of(verb.gives) != home_of(self.kinds[-1]):
            self.imports.add(f"from engram.aio.{home_of(verb.gives)} import {twin(verb.gives)}")

    @staticmethod
    def _entered(kind: type) -> Iterator[str]:
        """How a twin is held by `async with`."""
        yield "    async def __aenter__(self) -> Self:"
        if kind is not Engram:
            yield "        await self._threads.run(self._inner.__enter__)"
        yield "        return self"
        yield "    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,"
        yield "        trace: TracebackType | None) -> None:"
        if kind is Engram:
            yield "        await self.close()"
        else:
            yield "        await self._threads.run(self._inner.__exit__, kind, error, trace)"


@dataclass(frozen=True)
class Shape:
    """What becomes of a verb in the twin."""

    returns: str
    body: str
    way: str = "async def"
    above: tuple[str, ...] = ()


def shape_of(verb: Verb, kind: type) -> Shape:  # noqa: PLR0911 (a line for each shape)
    """A verb's twin, by what it is and what it gives."""
    given, plain = verb.gives, ast.unparse(verb.tree.returns) if verb.tree.returns else "None"
    inner = f"self._inner.{verb.name}"
    handed_on = [*passed(verb.tree.args)]
    run = f"await self._threads.run({', '.join([inner, *handed_on])})"
    if verb.is_property:
        value = f"{twin(given)}({inner}, self._threads)" if given else inner
        return Shape(twin(given) if given else plain, f"return {value}", "def", ("@property",))
    if isinstance(verb.made, classmethod):
        call = ", ".join(["cls", f"{kind.__name__}.{verb.name}", *handed_on])
        return Shape(f"Opening[{twin(kind)}]", f"return opening({call})", "def", ("@classmethod",))
    if kind is Engram and verb.name == "close":
        return Shape("None", f"await self._threads.close({inner})")
    if verb.item:
        call = ", ".join([inner, *handed_on])
        return Shape(f"AsyncIterator[{verb.item}]", f"return self._threads.each({call})", "def")
    if given is None:
        return Shape(plain, run if plain == "None" else f"return {run}")
    if given is not Engram and hasattr(given, "__enter__"):
        call = ", ".join([twin(given), "self._threads", inner, *handed_on])
        return Shape(f"Opening[{twin(given)}]", f"return beginning({call})", "def")
    return Shape(twin(given), f"return {twin(given)}({run}, self._threads)")


def passed(arguments: ast.arguments) -> Iterator[str]:
    """The arguments handed on as they came."""
    for one in [*arguments.posonlyargs, *arguments.args][1:]:
        yield handed(one.arg)
    if arguments.vararg:
        yield f"*{arguments.vararg.arg}"
    for one in arguments.kwonlyargs:
        yield f"{one.arg}={handed(one.arg)}"
    if arguments.kwarg:
        yield f"**{arguments.kwarg.arg}"


def handed(name: str) -> str:
    """One argument on its way into the thread."""
    return f"self._threads.told({name})" if name == CALLBACK else name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
