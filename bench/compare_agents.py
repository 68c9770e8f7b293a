"""PPO from end to end: ours against PyTorch and JAX on the CPU, in environment steps per second.

Ours publishes weights and a rollout; a peer is timed only after it found the same loss with them.
An iteration with pictures is put together of its acting and its learning, timed apart.
"""
import argparse
import json
import os
import tempfile

from comparison import (ROOT, Server, alternate, built_program, machine, median, peers_python,
                        print_table, say)

PACKAGES = ["jax", "torch", "numpy", "safetensors"]
STEPS = 64 * 256  # of an iteration
# work: {part: times in an iteration}
WORKS = {
    "ppo-maze": {"ppo-maze": 1},
    "ppo-pictures": {"ppo-pictures-act": 8, "ppo-pictures-learn": 24},
}
# work: peer: the multiple of its speed that is asked for
ASKED = {"ppo-maze": {"torch": 4, "jax": 2}, "ppo-pictures": {"torch": 1.4}}
ASKED_RATE = {"ppo-maze": 60_000}
AGREEMENT = 1e-4  # of what is found, relative to numbers above 1


def options(arguments):
    parser = argparse.ArgumentParser(prog="bench/compare agents", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--works", default=",".join(WORKS), help="names, separated by commas")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one turn")
    parser.add_argument("--cpu", action="store_true",
                        help="per second of the processor: with --threads 1, for loaded machines")
    parser.add_argument("--pictures", default="maze/pixels", help="environment with pictures")
    parser.add_argument("--peers", default="torch,jax")
    parser.add_argument("--python", help="an interpreter that has the peers; no environment then")
    chosen = parser.parse_args(arguments)
    for name, known in (("works", WORKS), ("peers", ["torch", "jax"])):
        for word in getattr(chosen, name).split(","):
            if word not in known:
                parser.error(f"--{name}: expected some of {', '.join(known)}, found '{word}'")
    return chosen


def check_agreement(work, first):
    """What every server found in its first two runs, or the end of the comparison."""
    ours = first["ours"]["answers"]
    for name, answer in first.items():
        for mine, theirs in zip(ours, answer["answers"], strict=True):
            for key, value in mine.items():
                if not abs(theirs[key] - value) <= AGREEMENT * max(1, abs(value)):
                    raise SystemExit(f"compare: {work}: {key} is {value} by ours, "
                                     f"{theirs[key]} by {name}")


def servers_of(chosen, folder):
    """{name: server}; PyTorch with one thread too, which can be the faster one."""
    program = built_program("release", "bench_agents")
    python = peers_python("agents", PACKAGES, chosen.python)
    serve = ROOT / "bench" / "peers" / "serve.py"
    servers = {"ours": Server("ours", [program, "--serve", "--threads", chosen.threads, "--inputs",
                                       folder, "--pictures", chosen.pictures])}
    versions = []
    for peer in chosen.peers.split(","):
        for threads in sorted({chosen.threads, 1} if peer == "torch" else {chosen.threads})[::-1]:
            name = peer if threads == chosen.threads else f"{peer}, 1 thread"
            servers[name] = Server(name, [python, serve, peer, "--threads", threads, "--inputs",
                                          folder])
            version = servers[name].read()["version"]
            if version not in versions:
                versions.append(version)
    return servers, versions


def measure(chosen, servers):
    results = []
    for work in chosen.works.split(","):
        taking = [server for name, server in servers.items()
                  if name == "ours" or name.split(",")[0] in ASKED[work]]
        seconds, parts = {server.name: 0.0 for server in taking}, {}
        for part, times in WORKS[work].items():
            turns, first = alternate(taking, part, chosen.rounds, chosen.seconds,
                                     "cpu_ms" if chosen.cpu else "ms")
            check_agreement(part, first)
            parts[part] = {name: median(values) for name, values in turns.items()}
            say(f"compare: {part}: " + ", ".join(f"{k} {v:.1f} ms"
                                                 for k, v in parts[part].items()))
            for name, ms in parts[part].items():
                seconds[name] += times * ms / 1e3
        best = {}
        for name, value in seconds.items():
            peer = name.split(",")[0]
            best[peer] = min(value, best.get(peer, value))
        ratios = {peer: best[peer] / best["ours"] for peer in best if peer != "ours"}
        rate = STEPS / best["ours"]
        met = rate >= ASKED_RATE.get(work, 0) and all(ratios[p] >= ASKED[work][p] for p in ratios)
        results.append({"work": work, "ms": parts, "ratios": ratios, "met": met,
                        "rates": {name: STEPS / value for name, value in seconds.items()}})
    return results


def main(arguments):
    chosen = options(arguments)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        servers, versions = servers_of(chosen, folder)
        results = measure(chosen, servers)
        for server in servers.values():
            server.close()
    report = {"machine": machine(), "threads": chosen.threads, "versions": versions,
              "load_before": load, "results": results}
    if chosen.json:
        print(json.dumps(report))
        return 0
    print(f"{report['machine']}; {chosen.threads} threads; {', '.join(versions)}; load before "
          f"{load:.1f}; medians, environment steps per "
          f"{'processor ' if chosen.cpu else ''}second")
    peers = [name for name in servers if name != "ours"]
    print_table(
        ["work", "ours", *peers, "ratios", "asked", "met"],
        [[r["work"], f"{r['rates']['ours']:,.0f}",
          *(f"{r['rates'][name]:,.0f}" if name in r["rates"] else "-" for name in peers),
          ", ".join(f"{v:.2f}x {k}" for k, v in r["ratios"].items()),
          ", ".join([f"{v:,}/s" for k, v in ASKED_RATE.items() if k == r["work"]]
                    + [f"{v}x {k}" for k, v in ASKED[r["work"]].items()]),
          "yes" if r["met"] else "no"] for r in results])
    return 0
