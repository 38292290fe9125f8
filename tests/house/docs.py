#!/usr/bin/env python3
"""docs.py [--print PAGE] COMPILER FLAGS...: what the documents show compiles, and does what they say.

A ```cpp block is a program when it has a main, else the body of a function. A ```text block that comes next is what it prints, or, when it
begins with "error:", why it does not compile. The first ```sh block of a page in PREPARED makes the directory in which its blocks run;
in others, what is called must exist and what is installed must be what tools/setup installs. Links lead somewhere.
--print shows what the blocks of one page print, for whoever writes it.
"""
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from tree import TOP, conclude

PREPARED = {"docs/policies.md", "docs/migration.md"}
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", *sorted(str(page.relative_to(TOP)) for page in (TOP / "docs").glob("*.md"))]

# What every block may take for granted.
PREAMBLE = """#include <bailey/bailey.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <unistd.h>
#include <fmt/core.h>
using namespace std::chrono_literals;
"""
INCLUDE = re.compile(r"^#include .*\n", re.M)


class Block:
    """A ```cpp block, and the ```text block that comes next, if one does."""

    def __init__(self, page, line, code, shown):
        self.name, self.page, self.code, self.shown = f"{page}:{line}", page, code, shown
        self.refused = shown is not None and shown.startswith("error:")
        self.program = "int main(" in code


def blocks_of(page):
    """The fenced blocks of a page: language, first line, content."""
    text = (TOP / page).read_text()
    return [(match[1], text.count("\n", 0, match.start()) + 1, match[2]) for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)]


def cpp_blocks(page):
    blocks = blocks_of(page)
    for (kind, line, code), (next_kind, _, shown) in itertools.zip_longest(blocks, blocks[1:], fillvalue=("", 0, "")):
        if kind == "cpp":
            yield Block(page, line, code, shown if next_kind == "text" else None)


def compiled(text, *flags):
    """What the compiler said, and how it ended."""
    command = [*COMMAND, "-DFMT_HEADER_ONLY", *flags, "-x", "c++", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def body(block):
    return INCLUDE.sub("", block.code)


def program_of(blocks):
    """One program for all blocks: its argument says which."""
    includes = sorted({include for block in blocks for include in INCLUDE.findall(block.code)})
    text = "".join(includes) + PREAMBLE
    for number, block in enumerate(blocks):
        text += f'\nstatic void block_{number}() {{\n#line 1 "{block.name}"\n{body(block)}}}\n'
    calls = "".join(f"    if (block == {number}) block_{number}();\n" for number in range(len(blocks)))
    return text + f'#line 1 "main"\nint main(int, char** argv) {{\n    const int block = std::atoi(argv[1]);\n{calls}}}\n'


def printed(command, page):
    """What a program prints in a directory as the page made it, with srt and node on the PATH as a user has them."""
    with tempfile.TemporaryDirectory(prefix="bailey-docs-", dir="/var/tmp") as directory:
        for name in ("bin", "home", "project"):
            os.mkdir(f"{directory}/{name}")
        os.symlink(os.environ["BAILEY_SRT"] + "/dist/cli.js", f"{directory}/bin/srt")
        os.symlink(os.environ["BAILEY_NODE"], f"{directory}/bin/node")
        environment = {"PATH": f"{directory}/bin:/usr/bin:/bin", "HOME": f"{directory}/home"}
        if page in PREPARED:
            script = next(content for kind, _, content in blocks_of(page) if kind == "sh")
            subprocess.run(["bash", "-euc", script], cwd=directory, env=environment, check=True)
        before = sorted(os.listdir(f"{directory}/project"))
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=120)
        left = sorted(set(os.listdir(f"{directory}/project")) - set(before))
        return done.stdout + (f"(exit {done.returncode})\n{done.stderr}" if done.returncode else "") + (f"(left behind: {left})\n" if left else "")


def check_compile_error(block):
    code, said = compiled(PREAMBLE + f"void f() {{\n{body(block)}}}\n", "-fsyntax-only")
    sentence = block.shown[block.shown.find("bailey: "):].strip()  # what stands before it is the compiler's
    if code == 0:
        return f"{block.name} compiles, and should not"
    return None if sentence in said.replace('\\"', '"') else f"{block.name} does not say\n{sentence}\nbut\n{said}"


def check_output(block, command):
    output = printed(command, block.page)
    return None if output == block.shown else f"{block.name} prints\n{output}and the page says\n{block.shown}"


def links(page):
    text = re.sub(r"^```.*?^```$", "", (TOP / page).read_text(), flags=re.M | re.S)
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)", text):
        target = (TOP / page).parent / link if link else TOP / page
        if not target.exists():
            yield f"{page} links to {link}, which does not exist"
        elif anchor and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            if anchor not in [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]:
                yield f"{page} links to {link}#{anchor}, where there is no such heading"


def shell(page):
    """What a page tells people to type is there to be typed."""
    setup = (TOP / "tools/setup").read_text()
    blocks = [content for kind, _, content in blocks_of(page) if kind == "sh"]
    for line in "".join(blocks[page in PREPARED:]).splitlines():
        words = line.split("#")[0].split()
        for word in words:
            if word.removeprefix("./").startswith(("tools/", "tests/", "examples/")) and not (TOP / word).exists():
                yield f"{page}: {word} does not exist"
        if "apt-get" in words and "install" in words:
            for package in words[words.index("install") + 1:]:
                if not package.startswith("-") and not re.search(rf"(?<!\S){re.escape(package)}(?![\w+-])", setup):
                    yield f"{page} installs {package}, which tools/setup does not"
        if "npm" in words and "install" in words and f'"{words[-1].removesuffix("@latest")}"' not in (TOP / "tools/srt/package.json").read_text():
            yield f"{page} installs {words[-1]}, which is not what tools/srt/package.json names"


def main():
    blocks = [block for page in PAGES if (TOP / page).exists() for block in cpp_blocks(page) if SHOWN in (None, page)]
    programs = [block for block in blocks if block.program]
    bodies = [block for block in blocks if not block.program and not block.refused]
    problems = []
    with tempfile.TemporaryDirectory(prefix="bailey-docs-") as build:
        jobs = [(f"program-{number}", block.code) for number, block in enumerate(programs)]
        jobs.append(("blocks", program_of(bodies)))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for (name, _), (code, said) in zip(jobs, pool.map(lambda job: compiled(job[1], "-o", f"{build}/{job[0]}"), jobs)):
                if code != 0:
                    conclude([f"{name} does not compile:\n{said}"], "")
            runs = [(block, [f"{build}/program-{number}"]) for number, block in enumerate(programs)]
            runs += [(block, [f"{build}/blocks", str(number)]) for number, block in enumerate(bodies)]
            if SHOWN:
                for block, command in runs:
                    print(f"== {block.name}\n{printed(command, block.page)}", end="")
                for block in blocks:
                    if block.refused:
                        print(check_compile_error(block) or f"== {block.name}: refused as shown")
                return
            problems += filter(None, pool.map(lambda run: check_output(*run), [run for run in runs if run[0].shown is not None]))
            problems += filter(None, pool.map(check_compile_error, [block for block in blocks if block.refused]))
    first = next(block for block in blocks if block.page == "README.md")
    if first.code != (TOP / "examples/first.cpp").read_text():
        problems.append("the README's first program is not examples/first.cpp")
    for page in PAGES:
        problems += [*links(page), *shell(page)]
    conclude(problems, f"{len(blocks)} blocks of C++ in {len(PAGES)} pages compile and print what the pages say")


arguments = sys.argv[1:]
SHOWN = arguments[1] if arguments[:1] == ["--print"] else None
COMMAND = arguments[2:] if SHOWN else arguments
if __name__ == "__main__":
    main()
