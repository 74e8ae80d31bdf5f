"""Write the types of `AsyncEngram` from the facade: src/engram/aio/__init__.pyi.

`python scripts/aio.py` writes the stub; with `--check` it only says that it is stale, by exit code 1.

What a verb gives back decides how it is used: a value is awaited, an iterator comes item by item, and a class
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
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from engram.engine import Engram
from engram.folder import has_verbs, offered

STUB = Path(__file__).parents[1] / "src" / "engram" / "aio" / "__init__.pyi"
HEAD = """\
# Written by scripts/aio.py from the facade. Change that, then run `make docs`.
from collections.abc import AsyncIterator, Awaitable, Generator
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar
"""
OPENING = '''
class _Entered(Protocol):
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

_E = TypeVar("_E", bound=_Entered)

class Opening(Awaitable[_E]):
    """Something about to begin: `await` it and end it yourself, or let `async with` do both."""

    def __await__(self) -> Generator[Any, Any, _E]: ...
    async def __aenter__(self) -> _E: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
'''


def main(arguments: list[str]) -> int:
    """Write the stub, or say that it is stale."""
    text = stub()
    if STUB.is_file() and STUB.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in arguments:
        print(f"src/engram/aio/{STUB.name} is out of date: run `make docs`.", file=sys.stderr)
        return 1
    STUB.write_text(text, encoding="utf-8", newline="\n")
    print(f"src/engram/aio/{STUB.name} written.")
    return 0


@functools.cache
def stub() -> str:
    """What the stub should say."""
    kinds = handles(Engram)
    lines = [line for kind in kinds for line in twin_lines(kind)]
    imports = sorted(set(known().values()))
    return laid_out("\n".join([HEAD, *imports, OPENING, *lines]))


def handles(root: type) -> list[type]:
    """The classes that get a twin: the facade and whatever its verbs hand out that has verbs too."""
    found, waiting = [], [root]
    while waiting:
        kind = waiting.pop(0)
        if kind not in found:
            found.append(kind)
            waiting += [given for verb in verbs_of(kind) if (given := verb.gives) is not None]
    return found


def laid_out(text: str) -> str:
    """The stub with imports sorted and lines broken as everywhere in the project."""
    for command in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format"]):
        full = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(  # noqa: S603 (our own words)
            full, input=text, capture_output=True, check=True, encoding="utf-8", cwd=STUB.parent
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
            return given if isinstance(given, type) and has_verbs(given) else None
        return None

    @property
    def named(self) -> list[str]:
        """What its signature names."""
        returns = [self.tree.returns] if self.tree.returns and self.gives is None else []
        arguments = [one.annotation for one in ast.walk(self.tree.args) if isinstance(one, ast.arg)]
        parts = [part for part in (*arguments, *returns) if part is not None]
        return [node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)]

    @property
    def item(self) -> str:
        """What it gives one by one, when it gives an iterator."""
        match self.tree.returns:
            case ast.Subscript(value=ast.Name(id="Iterator" | "Generator"), slice=item):
                return ast.unparse(item)
        return ""


def verbs_of(kind: type) -> list[Verb]:
    """What a class offers, in its order, with what it has from its parents."""
    return [Verb(name, made) for name, made in offered(kind).items()]


def twin(kind: type) -> str:
    """The name of a class's twin."""
    return f"Async{kind.__name__}"


# ---------------------------------------------------------------- where names come from


@functools.cache
class Names:
    """The names a module of ours knows, and how to import each."""

    def __init__(self, module: str) -> None:
        self._name = module
        self._module: ModuleType = importlib.import_module(module)
        self._lines: dict[str, str] = {}
        for node in ast.parse(inspect.getsource(self._module)).body:
            late = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in node.body if isinstance(node, ast.If) and late else [node]:
                self._learn(inner)

    def _learn(self, node: ast.stmt) -> None:
        match node:
            case ast.ImportFrom(module=str(source), names=names):
                for alias in names:
                    line = f"from {source} import {ast.unparse(alias)}"
                    self._lines[alias.asname or alias.name] = line
            case ast.Import(names=names):
                for alias in names:
                    self._lines[alias.asname or alias.name] = f"import {ast.unparse(alias)}"

    def line(self, name: str) -> str | None:
        """How to import a name; None for a builtin."""
        if name in self._lines:
            return self._lines[name]
        return f"from {self._name} import {name}" if hasattr(self._module, name) else None

    def value(self, name: str) -> Any:
        """What a name stands for."""
        line = self._lines.get(name)
        if line is None or hasattr(self._module, name):
            return getattr(self._module, name, None)
        return getattr(importlib.import_module(line.split()[1]), name, None)


# ---------------------------------------------------------------- the stub


@functools.cache
def known() -> dict[tuple[str, str], str]:
    """How to import what a signature names, by the module it stands in and the name.

    Where two modules mean different things by a name, each import has a name of its own.
    """
    lines: dict[tuple[str, str], str] = {}
    for kind in handles(Engram):
        for verb in verbs_of(kind):
            module = verb.function.__module__
            for name in verb.named:
                line = Names(module).line(name)
                if line is not None:
                    lines[module, name] = line
    meant: dict[str, set[str]] = {}
    for (_, name), line in lines.items():
        meant.setdefault(name, set()).add(line)
    return {
        (module, name): line if len(meant[name]) == 1 else f"{line} as {name_here(line, name)}"
        for (module, name), line in lines.items()
    }


def name_here(line: str, name: str) -> str:
    """What an imported name is called in the stub: `_TokensFound` for `Found` of `engram.api.caller`."""
    return f"_{line.split()[1].rpartition('.')[2].title().replace('_', '')}{name}"


class Renamed(ast.NodeTransformer):
    """The names of a signature as the stub calls them."""

    def __init__(self, module: str) -> None:
        self._module = module

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """One name."""
        line = known().get((self._module, node.id), "")
        return ast.Name(line.rpartition(" as ")[2]) if " as " in line else node


def twin_lines(kind: type) -> Iterator[str]:
    """The class that offers the same verbs, awaited."""
    yield f"class {twin(kind)}:"
    yield f'    """`{kind.__name__}` for asyncio: the same verbs, awaited."""'
    for verb in verbs_of(kind):
        above, returns = shape_of(verb, kind)
        yield textwrap.indent(f"{above} {verb.name}({arguments_of(verb)}) -> {returns}:", "    ")
        end = "\n" if "\n" in verb.words else ""
        yield textwrap.indent(f'"""{verb.words}{end}"""\n', " " * 8)
        if isinstance(verb.made, property) and verb.made.fset is not None:
            setter = Verb(verb.name, verb.made.fset)
            yield f"    @{verb.name}.setter"
            yield f"    def {verb.name}({arguments_of(setter)}) -> None: ..."
    if hasattr(kind, "__enter__"):
        yield "    async def __aenter__(self) -> Self: ..."
        yield "    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,"
        yield "        trace: TracebackType | None) -> None: ..."


def shape_of(verb: Verb, kind: type) -> tuple[str, str]:
    """How a verb of a twin is declared, and what it returns."""
    given = verb.gives
    plain = told_type(verb)
    if verb.is_property:
        return "@property\ndef", twin(given) if given else plain
    if isinstance(verb.made, classmethod):
        return "@classmethod\ndef", f"Opening[{twin(kind)}]"
    if verb.item:
        return "def", f"AsyncIterator[{verb.item}]"
    if given is not None and given is not Engram and hasattr(given, "__enter__"):
        return "def", f"Opening[{twin(given)}]"
    return "async def", twin(given) if given else plain


def told_type(verb: Verb) -> str:
    """What a verb gives, in the words of the stub."""
    if verb.tree.returns is None:
        return "None"
    returns = ast.parse(ast.unparse(verb.tree.returns), mode="eval")
    return ast.unparse(Renamed(verb.function.__module__).visit(returns))


def arguments_of(verb: Verb) -> str:
    """The arguments as they are declared; a default is told if it is a plain value."""
    arguments = ast.parse(f"def f({ast.unparse(verb.tree.args)}): ...").body[0]
    assert isinstance(arguments, ast.FunctionDef)  # noqa: S101 (it was just written)
    told: ast.arguments = Renamed(verb.function.__module__).visit(arguments.args)
    told.defaults = [plain_default(one) for one in told.defaults]
    told.kw_defaults = [one and plain_default(one) for one in told.kw_defaults]
    return ast.unparse(told)


def plain_default(default: ast.expr) -> ast.expr:
    """A default that needs no import."""
    return default if isinstance(default, ast.Constant) else ast.Constant(...)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
