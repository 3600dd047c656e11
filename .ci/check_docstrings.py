"""Check that the public names have complete numpydoc docstrings; print what is missing and exit with 1 if anything is.

Public are the names in ``bootleader.__all__`` and the public methods, properties and attributes of the classes among
them. numpydoc checks that the docstring is there, that parameters and return values are named and described, and that
functions and classes have examples. Added here, because numpydoc does not check it: exceptions that a function raises
are under Raises, a class that checks its parameters has Raises, and attributes are under Parameters or Attributes.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from numpydoc.docscrape import get_doc_object as parsed
from numpydoc.validate import validate

import bootleader

CHECKS = {"GL01", "GL03", "GL06", "GL07", "GL08", "SS01", "SS02", "SS03", "SS04", "SS06"} | {
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR07", "PR10", "RT01", "RT03", "YD01",
}  # fmt: skip


def docstring_of(named: Any) -> Any:
    """The docstring of a public object, by section."""
    return parsed(named, config={"show_class_members": False})


def documented(docstring: Any, *sections: str) -> set[str]:
    """The names that these sections of a docstring describe."""
    return {
        name.strip()
        for section in sections
        for entry in docstring[section]
        for name in (entry.name or entry.type).split(",")
    }


def raised(function: Any) -> set[str]:
    """Names of the exceptions in the ``raise`` statements of a function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    statements = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    calls = [statement.func if isinstance(statement, ast.Call) else statement for statement in statements]
    return {call.id for call in calls if isinstance(call, ast.Name) and call.id[0].isupper()}


def function_omissions(function: Any) -> Iterator[str]:
    """What the docstring of a function or method leaves out."""
    docstring = docstring_of(function)
    yield from numpydoc_omissions(docstring)
    for name in sorted(raised(function) - documented(docstring, "Raises")):
        yield f"Raises: {name} not documented"


def class_omissions(cls: type) -> Iterator[str]:
    """What the docstring of a class leaves out; its methods are checked one by one."""
    docstring = docstring_of(cls)
    is_result = bool(docstring["Attributes"]) and not docstring["Parameters"]  # users read it and do not construct it
    for omission in numpydoc_omissions(docstring):
        if not (is_result and omission.startswith("PR01")):
            yield omission
    described = {name for base in own_bases(cls) for name in documented(docstring_of(base), "Parameters", "Attributes")}
    fields = {name for base in own_bases(cls) for name in inspect.get_annotations(base) if not name.startswith("_")}
    for name in sorted(fields - described):
        yield f"Attributes: {name} not documented"
    checks = any(writes(base, method) for base in own_bases(cls) for method in ("__init__", "__post_init__"))
    if checks and not docstring["Raises"] and not is_result:
        yield "Raises: the class checks its parameters, but has no Raises section"


def own_bases(cls: type) -> list[type]:
    """A class and those of its bases that this package defines."""
    return [base for base in cls.__mro__ if base.__module__.startswith("bootleader")]


def writes(cls: type, name: str) -> bool:
    """Whether a class itself writes this method (the ``__init__`` of a dataclass is generated)."""
    method = vars(cls).get(name)
    return method is not None and method.__code__.co_filename == inspect.getsourcefile(cls)


def numpydoc_omissions(docstring: Any) -> Iterator[str]:
    """What numpydoc finds, of the checks that are switched on."""
    for code, message in validate(docstring)["errors"]:
        if code in CHECKS:
            yield f"{code}: {message}"


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class; for an override without a docstring, the method it inherits it from."""
    fields = {name for base in own_bases(cls) for name in inspect.get_annotations(base)}  # checked with the class
    for name in sorted({name for base in own_bases(cls) for name in vars(base) if name[0] != "_"} - fields):
        found = [vars(base)[name] for base in own_bases(cls) if name in vars(base)]
        found = [member for member in found if isinstance(member, property | classmethod | staticmethod | FunctionType)]
        if found:
            member = next((member for member in found if member.__doc__), found[0])
            yield name, member.__func__ if isinstance(member, classmethod | staticmethod) else member


def omissions() -> Iterator[tuple[str, str]]:
    """Pairs of a public name and what its documentation leaves out."""
    checked = set()
    for public in bootleader.__all__:
        named = getattr(bootleader, public)
        if not callable(named):
            continue
        for omission in class_omissions(named) if isinstance(named, type) else function_omissions(named):
            yield public, omission
        if not docstring_of(named)["Examples"]:
            yield public, "EX01: no example"
        for name, member in members(named) if isinstance(named, type) else ():
            if member not in checked:
                checked.add(member)
                is_property = isinstance(member, property)
                for omission in numpydoc_omissions(docstring_of(member)) if is_property else function_omissions(member):
                    yield f"{public}.{name}", omission


def main() -> int:
    """Print what is missing; return 1 if anything is."""
    missing = [f"bootleader.{name}: {omission}" for name, omission in omissions()]
    print("\n".join(missing) or f"numpydoc: {len(bootleader.__all__)} public names, nothing missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
