"""One outer iteration of each training: the build for every machine against the one for this machine."""
import argparse
import json
import os

from compare_compute import WORKS
from comparison import Server, alternate, built_program, machine, median, print_table, say

MOST = 1.05  # times what the native build takes


def options(arguments):
    parser = argparse.ArgumentParser(prog="bench/compare builds", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--works", default=",".join(WORKS), help="names, separated by commas")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one turn")
    return parser.parse_args(arguments)


def main(arguments):
    chosen = options(arguments)
    servers = [Server(preset, [built_program(preset, "bench_compute"), "--serve", "--threads",
                               chosen.threads]) for preset in ("release", "package")]
    results = []
    for work in chosen.works.split(","):
        times, _ = alternate(servers, work, chosen.rounds, chosen.seconds)
        ms = {name: median(values) for name, values in times.items()}
        say(f"compare: {work}: " + ", ".join(f"{k} {v:.2f} ms" for k, v in ms.items()))
        ratio = ms["package"] / ms["release"]
        results.append({"work": work, "ms": ms, "ratio": ratio, "met": ratio <= MOST})
    for server in servers:
        server.close()
    report = {"machine": machine(), "threads": chosen.threads, "results": results}
    if chosen.json:
        print(json.dumps(report))
        return 0
    print(f"{report['machine']}; {chosen.threads} threads; medians, ms per outer iteration")
    print_table(["work", "release", "package", "package / release", "met"],
                [[r["work"], f"{r['ms']['release']:.2f}", f"{r['ms']['package']:.2f}",
                  f"{r['ratio']:.3f}", "yes" if r["met"] else "no"] for r in results])
    return 0
