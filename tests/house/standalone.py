#!/usr/bin/env python3
"""standalone.py COMPILER FLAGS...: each header compiles when included first, and again, also without exceptions and RTTI."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from tree import compile_text, conclude, headers

STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only".split()
VARIANTS = {"": [], " without exceptions and RTTI": ["-fno-exceptions", "-fno-rtti"]}


def check(job):
    header, variant = job
    text = f"#include <{header}>\n#include <{header}>\n"
    output = compile_text(sys.argv[1:], text, *STRICT, *VARIANTS[variant])
    return f"{header} does not stand alone{variant}:\n{output}" if output else None


with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(check, [(header, variant) for header in headers() for variant in VARIANTS]))
conclude([result for result in results if result], f"{len(headers())} headers stand alone")
