#!/usr/bin/env python3
"""session_picture TIMES SVG: draw what `session ROUNDS TIMES` measured, every time a dot on a logarithmic scale, medians as bars."""
import collections
import math
import random
import statistics
import sys

WAYS = ["prepared", "bare bwrap", "broker", "cold", "python loop"]
times = collections.defaultdict(list)
for line in open(sys.argv[1]):
    tree, way, milliseconds = line.rstrip("\n").split("\t")
    times[tree, way].append(float(milliseconds))

LEFT, RIGHT, TOP, ROW = 130, 760, 40, 34
low = 10 ** math.floor(math.log10(min(min(row) for row in times.values())))
high = 10 ** math.ceil(math.log10(max(max(row) for row in times.values())))


def x(milliseconds):
    return LEFT + (RIGHT - LEFT) * (math.log10(milliseconds) - math.log10(low)) / (math.log10(high) - math.log10(low))


random.seed(1)
trees = [("small", "14 directories"), ("big", "20,000 files in 2,000 directories")]
height = TOP + len(trees) * (len(WAYS) * ROW + 44) + 10
out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" font-family="sans-serif" font-size="12">',
       f'<rect width="800" height="{height}" fill="#ffffff"/>']
y = TOP
for tree, words in trees:
    out.append(f'<text x="10" y="{y - 14}" font-weight="bold">session.run("true") in a tree of {words}, in ms</text>')
    bottom = y + len(WAYS) * ROW
    tick = low
    while tick <= high:
        out.append(f'<line x1="{x(tick):.1f}" y1="{y}" x2="{x(tick):.1f}" y2="{bottom}" stroke="#dddddd"/>'
                   f'<text x="{x(tick):.1f}" y="{bottom + 14}" text-anchor="middle" fill="#666666">{tick:g}</text>')
        tick *= 10
    for way in WAYS:
        middle = y + ROW / 2
        median = statistics.median(times[tree, way])
        out.append(f'<text x="{LEFT - 10}" y="{middle + 4}" text-anchor="end">{way}</text>')
        for value in times[tree, way]:
            out.append(f'<circle cx="{x(value):.1f}" cy="{middle + random.uniform(-8, 8):.1f}" r="2.5" fill="#4477aa" fill-opacity="0.5"/>')
        out.append(f'<line x1="{x(median):.1f}" y1="{y + 4}" x2="{x(median):.1f}" y2="{y + ROW - 4}" stroke="#aa3377" stroke-width="3"/>'
                   f'<text x="{RIGHT + 4}" y="{middle + 4}">{median:.1f}</text>')
        y += ROW
    y += 44
out.append("</svg>")
open(sys.argv[2], "w").write("\n".join(out) + "\n")
