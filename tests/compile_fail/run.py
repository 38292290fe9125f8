#!/usr/bin/env python3
"""Must-not-compile tests: run.py [--twins] COMPILER FILE... -- FLAGS...

Each FILE is compiled, which must fail, and what the compiler says is compared with the file's first comment lines:
    // expect: REGEX    the first "error:" line; and no other error may follow
    // names: TEXT      optional: somewhere in the output, "bailey::grammar::" left out: the value spelled out in the name of a type
With --twins, all of them must compile with -DTWIN, each in a namespace of its own: what differs is what is refused.
"""
import concurrent.futures
import os
import re
import subprocess
import sys


def run_compiler(compiler, flags, *source, text=None):
    command = [*compiler, "-std=c++20", *flags, "-fsyntax-only", *source]
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def twins_complaint(compiler, files, flags):
    """What is wrong with the twins, or None."""
    includes, bodies = set(), []
    for number, path in enumerate(files):
        with open(path, encoding="utf-8") as file:
            includes |= set(re.findall(r"^#include .*$", file.read(), re.MULTILINE))
        bodies.append(f'namespace twin_{number} {{\n#include "{os.path.abspath(path)}"\n}}')
    code, output = run_compiler(compiler, [*flags, "-DTWIN"], "-x", "c++", "-", text="\n".join([*sorted(includes), *bodies]))
    return "the twins do not compile:\n" + output if code != 0 else None


def complaint(compiler, path, flags):
    """What is wrong with this test, or None."""
    with open(path, encoding="utf-8") as file:
        directives = dict(re.findall(r"^// (expect|names): (.*)$", file.read(), re.MULTILINE))
    if "expect" not in directives:
        return "has no '// expect: REGEX' line"

    code, output = run_compiler(compiler, flags, path)
    if code == 0:
        return "compiles"
    errors = re.findall(r"^.*\berror: .*$", output, re.MULTILINE)
    if not errors:
        return "fails without an error line:\n" + output
    if not re.search(directives["expect"], errors[0].replace('\\"', '"')):
        return f"first error is\n  {errors[0]}\nexpected\n  {directives['expect']}"
    if len(errors) > 1:
        return "more errors follow ours:\n  " + "\n  ".join(errors)
    if directives.get("names", "") not in output.replace("bailey::grammar::", "").replace("> >", ">>"):
        return f"the output does not contain\n  {directives['names']}\n" + output
    return None


def main(arguments):
    twins = arguments[:1] == ["--twins"]
    arguments = arguments[twins:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    if split < 2:
        sys.exit(__doc__)
    compiler, files, flags = arguments[0].split(), arguments[1:split], arguments[split + 1:]
    if twins:
        problem = twins_complaint(compiler, files, flags)
        print(problem or f"{len(files)} twins compile")
        return 1 if problem else 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda path: complaint(compiler, path, flags), files))
    failed = 0
    for path, problem in zip(files, complaints):
        if problem:
            failed += 1
            print(f"FAILED {path}: {problem}")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
