#!/usr/bin/env python3
"""No package registry's host is named: the clients know where they fetch from, and a mirror must be free to serve."""
import os

from tree import TOP, conclude

# In pieces, so that this file does not name them either.
HOSTS = [".".join(pieces).encode() for pieces in [
    ("registry", "npmjs", "org"), ("registry", "yarnpkg", "com"), ("npm", "pkg", "github"),
    ("deb", "debian", "org"), ("security", "debian", "org"), ("archive", "ubuntu", "com"), ("wrapdb", "mesonbuild", "com"),
]]

problems = []
for folder, folders, files in os.walk(TOP):
    inside = os.path.relpath(folder, TOP)
    folders[:] = [name for name in folders if name not in (".git", "node_modules", "packagecache") and not name.startswith("build")]
    if inside == "subprojects":
        folders[:] = ["packagefiles"]  # the rest is what wraps fetched
    for name in files:
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            text = open(path, "rb").read()
            problems += [f"{os.path.relpath(path, TOP)} names {host.decode()}" for host in HOSTS if host in text]

conclude(problems, "no registry host is named")
