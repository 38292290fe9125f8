#!/usr/bin/env python3
"""Must-not-compile tests: run.py COMPILER FILE... -- FLAGS...

Each FILE is compiled twice. With -DTWIN it must compile. Without, it must not, and what the compiler says is compared with the file's
first comment lines:
    // expect: REGEX    the first "error:" line; and no other error may follow
    // names: TEXT      optional: somewhere in the output, "bailey::grammar::" left out: the value spelled out in the name of a type
"""
import concurrent.futures
import os
import re
import subprocess
import sys


def compile_file(compiler, path, flags):
    command = [*compiler, "-std=c++20", *flags, "-fsyntax-only", path]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def complaint(compiler, path, flags):
    """What is wrong with this test, or None."""
    with open(path, encoding="utf-8") as file:
        directives = dict(re.findall(r"^// (expect|names): (.*)$", file.read(), re.MULTILINE))
    if "expect" not in directives:
        return "has no '// expect: REGEX' line"

    code, output = compile_file(compiler, path, [*flags, "-DTWIN"])
    if code != 0:
        return "the twin does not compile:\n" + output
    code, output = compile_file(compiler, path, flags)
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
    split = arguments.index("--") if "--" in arguments else len(arguments)
    if split < 2:
        sys.exit(__doc__)
    compiler, files, flags = arguments[0].split(), arguments[1:split], arguments[split + 1:]
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
