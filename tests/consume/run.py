#!/usr/bin/env python3
"""run.py WAY: bring bailey into a project in one of the ways the README shows, build that project, run it."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
SOURCES = [HERE / "main.cpp", HERE / "second.cpp"]
ADDRESS = "https://git.example/bailey.git"  # the README's
CXX = os.environ.get("CXX", "g++")
# Without -Wuseless-cast: a cast that is useless on this platform is needed where dev_t or time_t is another type.
STRICT = """-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-align -Wcast-qual -Wunused
-Woverloaded-virtual -Wnon-virtual-dtor -Wnull-dereference -Wdouble-promotion -Wformat=2 -Wduplicated-cond -Wlogical-op
-Wextra-semi -Werror""".split()


def sh(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options)


def output(*command, **options):
    return sh(*command, stdout=subprocess.PIPE, **options).stdout


def compiled(*flags, cxx=CXX, fmt=True):
    """Built by the compiler alone, as someone with a Makefile would."""
    fmt_flags = output("pkg-config", "--cflags", "--libs", "fmt").split() if fmt else []
    sh(cxx, "-std=c++20", *SOURCES, *flags, *fmt_flags, "-o", "consumer")
    return "consumer"


def shown(way, title, kind):
    """A block of the README's, from below the way's **title**: what people copy is what is tested here."""
    below = (TOP / "README.md").read_text().split(f"**{title}:**", 1)[1]
    return re.search(rf"```{kind}\n(.*?)```", below, re.S)[1].replace(ADDRESS, way)


def project(file, beginning, lines):
    """The consumer's project in the current directory: what every project begins with, and the README's lines."""
    for source in SOURCES:
        shutil.copy(source, ".")
    Path(file).write_text(beginning + lines)


def cmake_project(bailey):
    """With the README's last line, and `bailey` for how it gets there."""
    link = shown("", "CMake", "cmake").splitlines()[-1]
    project("CMakeLists.txt", "cmake_minimum_required(VERSION 3.21)\nproject(agent LANGUAGES CXX)\nadd_executable(agent main.cpp second.cpp)\n", f"{bailey}\n{link}\n")


def repository():
    """The tree as it stands, as a Git repository to clone: what a wrap or FetchContent gets."""
    ignored = shutil.ignore_patterns(".git", "build*", "__pycache__", "packagecache")
    shutil.copytree(TOP, "bailey.git", ignore=ignored)
    git = ["git", "-C", "bailey.git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    sh(*git, "init", "-q", "-b", "main")
    sh(*git, "add", "-A")
    sh(*git, "commit", "-q", "-m", "the tree as it stands")
    return os.path.abspath("bailey.git")


def cmake(source, build, *options):
    sh("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_CXX_COMPILER={CXX}", *options)


def unburdened(build, sources=("main.cpp", "second.cpp")):
    """Being consumed builds nothing of ours and adds no warning, no -Werror, no definition: only an include path for the system's."""
    commands = json.loads(Path(build, "compile_commands.json").read_text())
    files = sorted(Path(command["file"]).name for command in commands)
    assert files == sorted(sources), f"more is built than the consumer's: {files}"
    for command in commands:
        words = command["command"].split()
        added = [word for word in words if word in ("-Werror", "-Wconversion", "-Wshadow") or word.startswith("-DBAILEY")]
        assert not added, f"flags were added: {added}"
        include = [word for word in words if word.endswith("/include") and not word.startswith("/usr/")]
        assert include and all(words[words.index(word) - 1] == "-isystem" or word.startswith("-isystem") for word in include), words


def meson_subproject():
    lines = shown("", "Meson", "meson").replace("'main.cpp'", "'main.cpp', 'second.cpp'")
    project("meson.build", "project('agent', 'cpp', default_options: ['cpp_std=c++20'])\n", lines)
    os.mkdir("subprojects")
    Path("subprojects/bailey.wrap").write_text(shown(f"file://{repository()}", "Meson", "ini"))
    sh("meson", "setup", "build", env={**os.environ, "CXX": CXX})
    sh("meson", "compile", "-C", "build")
    unburdened("build")
    assert not json.loads(output("meson", "introspect", "build", "--tests")), "tests came along"
    return "build/agent"


def fetch_content():
    cmake_project("\n".join(shown(f"file://{repository()}", "CMake", "cmake").splitlines()[:-1]))
    # fmt is on this machine: nothing needs to be downloaded, and nothing may be.
    cmake(".", "build")
    assert not Path("build/_deps/fmt-src").exists(), "fmt was downloaded though it is installed"
    sh("cmake", "--build", "build")
    unburdened("build")
    return "build/agent"


def find_package():
    assert "`find_package(bailey REQUIRED)`" in (TOP / "README.md").read_text()
    cmake_project("find_package(bailey REQUIRED)")
    cmake(TOP, "bailey", f"-DCMAKE_INSTALL_PREFIX={os.getcwd()}/prefix")
    sh("cmake", "--install", "bailey", stdout=subprocess.DEVNULL)
    cmake(".", "build", f"-DCMAKE_PREFIX_PATH={os.getcwd()}/prefix")
    sh("cmake", "--build", "build")
    unburdened("build")
    return "build/agent"


def pkg_config():
    sh("meson", "setup", "bailey", TOP, f"--prefix={os.getcwd()}/prefix", "-Dtests=disabled", "-Dexamples=disabled", "-Dbenchmarks=disabled")
    sh("meson", "install", "-C", "bailey", stdout=subprocess.DEVNULL)
    found = {**os.environ, "PKG_CONFIG_PATH": f"{os.getcwd()}/prefix/share/pkgconfig"}
    return compiled(*output("pkg-config", "--cflags", "--libs", "bailey", env=found).split(), fmt=False)


def single_include():
    for source in SOURCES:
        shutil.copy(source, ".")
    lines = shown(f"file://{repository()}", "One header", "sh")
    sh("bash", "-euc", lines.replace("g++", CXX).replace("main.cpp", "main.cpp second.cpp"))
    return "agent"


def no_exceptions():
    return compiled("-I", TOP / "include", "-fno-exceptions", "-Wall", "-Wextra", "-Werror")


def no_rtti():
    return compiled("-I", TOP / "include", "-fno-rtti", "-Wall", "-Wextra", "-Werror")


def strict_warnings():
    return compiled("-I", TOP / "include", *STRICT)  # -I: the headers themselves are judged


def std_format():
    """A newer compiler and another standard library, and no fmt at all."""
    flags = ["-stdlib=libc++", "-DBAILEY_USE_STD_FORMAT", "-Wall", "-Wextra", "-Werror"]
    return compiled("-I", TOP / "include", *flags, cxx="clang++-19", fmt=False)


WAYS = [meson_subproject, fetch_content, find_package, pkg_config, single_include, no_exceptions, no_rtti, strict_warnings, std_format]

with tempfile.TemporaryDirectory(prefix="bailey-consume-") as folder:
    os.chdir(folder)
    os.mkdir("workspace")
    program = os.path.abspath({way.__name__: way for way in WAYS}[sys.argv[1]]())
    # As a user has it: srt and node are found on PATH.
    os.mkdir("bin")
    os.symlink(os.environ["BAILEY_SRT"] + "/dist/cli.js", "bin/srt")
    os.symlink(os.environ["BAILEY_NODE"], "bin/node")
    said = output(program, "workspace", env={"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")})
    assert said == "hello from the workspace\n", f"the program printed {said!r}"
    print(said, end="")
    os.chdir("/")
