#!/usr/bin/env python3
"""standalone.py COMPILER FLAGS...: each header compiles when included first, and again; all of them also without exceptions and RTTI."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from tree import conclude, headers, rejected

STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only".split()


def check(job):
    title, text, more = job
    output = rejected([*sys.argv[1:], *STRICT, *more], text)
    return f"{title}:\n{output}" if output else None


includes = [f"#include <{header}>\n" for header in headers()]
jobs = [(f"{include.strip()} does not stand alone", include + include, []) for include in includes]
# Missing includes are seen above; what throws or asks for a type is seen in one go.
jobs.append(("the headers need exceptions or RTTI", "".join(includes), ["-fno-exceptions", "-fno-rtti"]))
with ThreadPoolExecutor(os.cpu_count()) as pool:
    problems = [problem for problem in pool.map(check, jobs) if problem]
conclude(problems, f"{len(includes)} headers stand alone")
