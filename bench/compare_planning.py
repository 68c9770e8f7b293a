"""The planner on the benchmark grid against other people's planners, and against the memory."""
import argparse
import json
import os

from comparison import (ROOT, Server, built_program, machine, median, peers_python, print_table,
                        say)

PACKAGES = ["numpy", "scipy", "quantecon", "mdpsolver", "pymdptoolbox>=4.0b3", "stormpy>=2"]
PEERS = ["stormpy", "quantecon", "pymdptoolbox", "mdpsolver"]
# work: (seconds asked for or None, repetitions)
WORKS = {
    "vi-gauss-seidel": (0.5, 3), "vi-sync": (None, 1), "vi-sweep": (None, 5),
    "csr-sweep": (None, 3), "z-beta1": (0.4, 7), "z-beta.1": (5.0, 3), "z-beta0": (5.0, 1),
    "z-5000": (25.0, 1),
}
SHARE = 0.7  # of the triad's bandwidth, asked of csr-sweep
SIDES = [112, 354, 1118, 3536]


def options(arguments):
    parser = argparse.ArgumentParser(prog="bench/compare planning", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--works", default=",".join(WORKS), help="names, separated by commas")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--side", type=int, default=1000, help="of the peers' grid")
    parser.add_argument("--peers", default=",".join(PEERS), help="'' for none")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a peer may take")
    parser.add_argument("--scaling", action="store_true", help="Z at growing sizes too")
    parser.add_argument("--python", help="an interpreter that has the peers; no environment then")
    chosen = parser.parse_args(arguments)
    for work in chosen.works.split(","):
        if work not in WORKS:
            parser.error(f"--works: expected some of {', '.join(WORKS)}, found '{work}'")
    for peer in filter(None, chosen.peers.split(",")):
        if peer not in PEERS:
            parser.error(f"--peers: expected some of {', '.join(PEERS)}, found '{peer}'")
    return chosen


def main(arguments):
    chosen = options(arguments)
    command = [built_program("release", "bench_planning"), "--serve", "--threads", chosen.threads]
    names = list(filter(None, chosen.peers.split(",")))
    results, peers = [], {}
    for work in chosen.works.split(","):
        say(f"compare: {work}")
        asked, reps = WORKS[work]
        ours = Server("ours", command)  # a new one: its peak of memory is this work's
        answer = ours.ask(work, reps)
        triad = ours.ask("triad", 5)
        ours.close()
        bandwidth = triad["bytes"] / median(triad["ms"]) / 1e6
        seconds = median(answer["ms"]) / 1e3
        share = answer["bytes"] / seconds / 1e9 / bandwidth if answer["bytes"] else None
        met = None
        if asked is not None:
            met = seconds <= asked
        elif work == "csr-sweep":
            met = share >= SHARE
        results.append({"work": work, "seconds": seconds, "asked": asked, "met": met,
                        "triad_gbps": bandwidth, "share": share,
                        **{k: answer[k] for k in
                           ("states", "sweeps", "residual", "bound", "peak_mib")}})
    ours = Server("ours", command)
    scaling = []
    if chosen.scaling:
        for side in SIDES:
            say(f"compare: {side} x {side}")
            answer = ours.ask(f"z-side-{side}", 1)
            scaling.append({"side": side, "states": answer["states"], "sweeps": answer["sweeps"],
                            "seconds": answer["ms"][0] / 1e3})
    if names:
        python = peers_python("planning", PACKAGES, chosen.python)
        script = ROOT / "bench" / "peers" / "planning.py"
        for name in names:  # one at a time: they do not share the cores; ours runs before each
            say(f"compare: {name}")
            mine = median(ours.ask("vi-gauss-seidel", 3)["ms"]) / 1e3
            peer = Server(name, [python, script, name, chosen.side])
            hello = peer.read(chosen.limit)  # its model is made by then
            answer = hello and peer.ask("vi", 1, chosen.limit)
            peers[name] = {"version": hello["version"] if hello else name, "ours": mine,
                           "seconds": None, "ratio": None}
            if answer:
                peer.close()
                seconds = answer["ms"][0] / 1e3
                peers[name] |= {"seconds": seconds, "ratio": seconds / mine,
                                "states": answer["states"], "least_value": answer["least"]}
    ours.close()
    report = {"machine": machine(), "threads": chosen.threads, "results": results,
              "scaling": scaling, "peers": peers}
    if chosen.json:
        print(json.dumps(report))
        return 0
    print(f"{report['machine']}; {chosen.threads} threads")
    print_table(["work", "states", "seconds", "asked", "met", "sweeps", "residual", "triad GB/s",
                 "share of it", "peak MiB"],
                [[r["work"], r["states"], f"{r['seconds']:.4f}", r["asked"] or "-",
                  {True: "yes", False: "no", None: "-"}[r["met"]], r["sweeps"],
                  f"{r['residual']:.1e}", f"{r['triad_gbps']:.1f}",
                  f"{100 * r['share']:.0f} %" if r["share"] else "-", r["peak_mib"]]
                 for r in results])
    if scaling:
        print()
        print_table(["grid", "states", "sweeps", "seconds", "ns/state"],
                    [[f"{r['side']}^2", r["states"], r["sweeps"], f"{r['seconds']:.3f}",
                      f"{1e9 * r['seconds'] / r['states']:.0f}"] for r in scaling])
    if peers:
        print(f"\nvalue iteration, discount .99, error <= 1e-4, {chosen.side} x {chosen.side}")
        late = f"no answer in {chosen.limit:.0f}"
        print_table(["peer", "seconds", "ours", "ratio"],
                    [[p["version"], f"{p['seconds']:.2f}" if p["seconds"] else late,
                      f"{p['ours']:.3f}", f"{p['ratio']:.0f}x" if p["ratio"] else "-"]
                     for p in peers.values()])
    return 0
