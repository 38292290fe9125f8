#!/usr/bin/env python3
"""run.py WAY: bring bailey into a project in one of the ways the README shows, build that project, run it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
SOURCES = [HERE / "main.cpp", HERE / "second.cpp"]
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


def project(way):
    """The consumer's project in the current directory."""
    for file in [*SOURCES, *(HERE / way).iterdir()]:
        shutil.copy(file, ".")


def repository():
    """The tree as it stands, as a Git repository to clone: what a wrap or FetchContent gets."""
    ignored = shutil.ignore_patterns(".git", "build*", "__pycache__", "packagecache")
    shutil.copytree(TOP, "repository", ignore=ignored)
    git = ["git", "-C", "repository", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    sh(*git, "init", "-q", "-b", "main")
    sh(*git, "add", "-A")
    sh(*git, "commit", "-q", "-m", "the tree as it stands")
    return os.path.abspath("repository")


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
    project("meson_subproject")
    url = repository()
    os.mkdir("subprojects")
    Path("subprojects/bailey.wrap").write_text(f"[wrap-git]\nurl = file://{url}\nrevision = main\ndepth = 1\n\n[provide]\ndependency_names = bailey\n")
    sh("meson", "setup", "build", env={**os.environ, "CXX": CXX})
    sh("meson", "compile", "-C", "build")
    unburdened("build")
    assert not json.loads(output("meson", "introspect", "build", "--tests")), "tests came along"
    return "build/consumer"


def fetch_content():
    project("fetch_content")
    # fmt is on this machine: nothing needs to be downloaded, and nothing may be.
    cmake(".", "build", f"-DBAILEY_REPOSITORY=file://{repository()}")
    assert not Path("build/_deps/fmt-src").exists(), "fmt was downloaded though it is installed"
    sh("cmake", "--build", "build")
    unburdened("build")
    return "build/consumer"


def find_package():
    project("find_package")
    cmake(TOP, "bailey", f"-DCMAKE_INSTALL_PREFIX={os.getcwd()}/prefix")
    sh("cmake", "--install", "bailey", stdout=subprocess.DEVNULL)
    cmake(".", "build", f"-DCMAKE_PREFIX_PATH={os.getcwd()}/prefix")
    sh("cmake", "--build", "build")
    unburdened("build")
    return "build/consumer"


def pkg_config():
    sh("meson", "setup", "bailey", TOP, f"--prefix={os.getcwd()}/prefix", "-Dtests=disabled", "-Dexamples=disabled", "-Dbenchmarks=disabled")
    sh("meson", "install", "-C", "bailey", stdout=subprocess.DEVNULL)
    found = {**os.environ, "PKG_CONFIG_PATH": f"{os.getcwd()}/prefix/share/pkgconfig"}
    return compiled(*output("pkg-config", "--cflags", "--libs", "bailey", env=found).split(), fmt=False)


def single_include():
    shutil.copytree(TOP / "single_include/bailey", "vendor/bailey")
    return compiled("-Ivendor", "-Wall", "-Wextra", "-Werror")


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
