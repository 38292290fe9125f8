#!/usr/bin/env python3
"""macros.py COMPILER FLAGS...: including everything leaves no macro of bailey's behind (BAILEY_USE_STD_FORMAT is the user's)."""
import re
import subprocess
import sys

from tree import INCLUDE, conclude, headers


def macros(text):
    done = subprocess.run([*sys.argv[1:], "-E", "-dM", "-x", "c++", "-"], input=text, capture_output=True, text=True)
    if done.returncode:
        conclude([done.stderr], "")
    return set(re.findall(r"^#define (\w+)", done.stdout, re.M))


# The standard headers and fmt leave macros too; theirs are those that including them alone leaves.
foreign = set()
for header in headers():
    foreign |= set(re.findall(r"^\s*#\s*include <((?!bailey/)[^>]+)>", (INCLUDE / header).read_text(), re.M))
before = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in sorted(foreign))
if "-DBAILEY_USE_STD_FORMAT" in sys.argv:
    before = "".join(f"#include <{name}>\n" for name in sorted(foreign) if not name.startswith("fmt/"))
after = "".join(f"#include <{header}>\n" for header in headers())
conclude([f"macro {name} leaks" for name in sorted(macros(before + after) - macros(before))], "no macro leaks")
