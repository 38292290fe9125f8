"""What the house tests share: the tree, its headers, and a compiler to ask."""
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = TOP / "include"


# These need a library that bailey itself does not.
OPTIONAL = {"bailey/policy/from_json.hpp": "nlohmann/json.hpp"}


def headers():
    """Every header, as it is included; one that needs a library only where that is installed."""
    every = sorted(str(path.relative_to(INCLUDE)) for path in (INCLUDE / "bailey").rglob("*.hpp"))
    return [name for name in every if name not in OPTIONAL or pathlib.Path("/usr/include", OPTIONAL[name]).exists()]


def rejected(command, text):
    """What a compiler said when it refused a text; None when it took it."""
    done = subprocess.run([*command, "-x", "c++", "-"], input=text, capture_output=True, text=True)
    return done.stderr if done.returncode else None


def conclude(problems, good):
    """Prints either and exits as a test does."""
    for problem in problems:
        print(problem)
    if not problems:
        print(good)
    sys.exit(1 if problems else 0)
