#!/usr/bin/env python3
"""Who may include whom (design.md section 3): data flows one way, so a header never reaches up."""
import re
import tempfile
from pathlib import Path

from tree import INCLUDE, conclude

ROOMS = {
    "base": set(),
    "grammar": {"base"},
    "boundary": {"base"},
    "policy": {"base", "grammar", "boundary"},
    "settings": {"base", "boundary"},
    "process": {"base"},
    "srt": {"base", "boundary", "settings", "process"},
}
# What stands beside the rooms (workspace, session, gate, ...) may include everything but the umbrella.
# base is paid for by everything, and these cost a user most. (<memory> is among them, but fmt brings it anyway.)
HEAVY = {"filesystem", "functional", "future", "iostream", "ranges", "regex", "thread"}

INCLUDE_LINE = re.compile(r"^\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", re.M)


def problems_of(include):
    """The breaches in the tree below `include`, as sentences."""
    problems, edges = [], {}
    for path in sorted(include.glob("bailey/**/*")):
        name = path.relative_to(include).as_posix()
        parts = name.split("/")
        room = parts[1]
        if path.is_dir():
            if len(parts) == 2 and room not in ROOMS:
                problems.append(f"{name}/: no such room in the table")
            continue
        text = path.read_text()
        if "\n#pragma once\n" not in "\n" + text:
            problems.append(f"{name}: no #pragma once")
        edges[name] = []
        for kind, target in INCLUDE_LINE.findall(text):
            if kind == '"':
                problems.append(f'{name}: write <bailey/...>, not "{target}"')
            elif target.startswith("bailey/"):
                edges[name].append(target)
                if not (include / target).is_file():
                    problems.append(f"{name}: includes <{target}>, which does not exist")
                reached = target.split("/")[1]
                if target == "bailey/bailey.hpp":
                    problems.append(f"{name}: includes the umbrella")
                elif room in ROOMS and reached != room and reached not in ROOMS[room]:
                    problems.append(f"{name}: {room} may not include <{target}>")
            elif room == "base" and target in HEAVY:
                problems.append(f"{name}: <{target}> is too heavy for base")

    def visit(name, trail):
        if name in trail:
            problems.append("a circle of includes: " + " -> ".join(trail[trail.index(name):] + [name]))
        elif name in edges:
            for target in edges[name]:
                visit(target, trail + [name])
            del edges[name]  # no circle through here

    for name in list(edges):
        visit(name, [])
    return problems


def self_test():
    """That each kind of breach is seen: a check that finds nothing might not be looking."""
    cases = {
        "grammar/a.hpp": ("#include <bailey/policy/b.hpp>", "grammar may not include <bailey/policy/b.hpp>"),
        "srt/a.hpp": ("#  include <bailey/policy/b.hpp>", "srt may not include <bailey/policy/b.hpp>"),
        "base/a.hpp": ("#include <regex>", "<regex> is too heavy for base"),
        "process/a.hpp": ("#include <bailey/process/c.hpp>", "which does not exist"),
        "settings/a.hpp": ('#include "b.hpp"', 'not "b.hpp"'),
        "attic/a.hpp": ("", "no such room"),
        "session.hpp": ("#include <bailey/bailey.hpp>", "includes the umbrella"),
        "policy/a.hpp": ("#include <bailey/policy/a.hpp>", "a circle of includes"),
    }
    blind = []
    for name, (line, sentence) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {"policy/b.hpp": "", "bailey.hpp": "", "workspace.hpp": "#include <bailey/policy/b.hpp>", name: line}.items():
                path = Path(folder) / "bailey" / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("#pragma once\n" + text + "\n")
            found = problems_of(Path(folder))
            if len(found) != 1 or sentence not in found[0]:
                blind.append(f"self-test {name}: expected one problem, '{sentence}', got {found}")
    return blind


conclude(self_test() + problems_of(INCLUDE), "every include is one the table allows")
