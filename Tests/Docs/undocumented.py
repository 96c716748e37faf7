"""Names every public symbol without a doc comment in the targets that the library products are made of.

    swift package describe --type json | undocumented.py SYMBOL_GRAPHS

Exempt are generated code and synthesized members. What fulfils a requirement or overrides a member has the words of that
one where it has none of its own.
"""

import json
import os
import pathlib
import sys


def library_targets(package):
    """The targets of the library products, and what those depend on."""
    dependencies = {target["name"]: target.get("target_dependencies", []) for target in package["targets"]}
    waiting = [name for product in package["products"] if "library" in product["type"] for name in product["targets"]]
    found = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += dependencies[name]
    return found


def undocumented(graph):
    """The file, line and name of each symbol of a graph that has no words, of its own or of what it fulfils."""
    for symbol in graph["symbols"]:
        # What nobody wrote has no place.
        if "docComment" in symbol or "location" not in symbol:
            continue
        path = symbol["location"]["uri"].removeprefix("file://")
        if "/Generated/" not in path:
            yield os.path.relpath(path), symbol["location"]["position"]["line"] + 1, ".".join(symbol["pathComponents"])


def main(folder):
    """Prints what is missing; the exit status says whether anything is."""
    targets = library_targets(json.load(sys.stdin))
    missing = set()
    for file in sorted(pathlib.Path(folder).glob("*.symbols.json")):
        if file.name.removesuffix(".symbols.json").split("@")[0] in targets:
            missing.update(undocumented(json.loads(file.read_text())))
    for path, line, name in sorted(missing):
        print(f"{path}:{line}: {name} has no doc comment")
    sys.exit(1 if missing else 0)


main(sys.argv[1])
