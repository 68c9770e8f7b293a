"""serve.py FRAMEWORK --threads N [--inputs FOLDER] [--device cpu|cuda]: times works of a peer on request.

Each line `WORK REPS` on standard input is answered by one line of JSON: {"work", "ms": [...],
"cpu_ms": [...], "answers": [...]}. The first request for a work builds it, with inputs from FOLDER/WORK.safetensors,
and runs it twice before timing; the answers are what these two runs found, if anything.
"""
import argparse
import importlib
import importlib.metadata
import json
import os
import sys
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("framework", choices=["jax", "torch", "numpy"])
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--inputs")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    if arguments.framework == "torch":
        import torch
        torch.set_num_threads(arguments.threads)
        torch.set_default_device(arguments.device)
        version = torch.__version__
    elif arguments.framework == "jax":
        os.environ["JAX_PLATFORMS"] = arguments.device
        import jax
        version = jax.__version__
    else:
        import numpy
        version = f"{numpy.__version__}, highspy {importlib.metadata.version('highspy')}"
    print(json.dumps({"version": f"{arguments.framework} {version}"}), flush=True)

    def build(work):
        if arguments.inputs:
            family = "ppo" if work.startswith("ppo") else "auction_works"
            module = importlib.import_module(f"{arguments.framework}_{family}")
            return module.make(work, os.path.join(arguments.inputs, f"{work}.safetensors"))
        family = "impala" if work.startswith("impala") else "auctions"
        return importlib.import_module(f"{arguments.framework}_{family}").make(work)

    def wait():  # for what the GPU still does; JAX's works wait themselves
        if arguments.device == "cuda" and arguments.framework == "torch":
            torch.cuda.synchronize()

    made = {}
    for line in sys.stdin:
        work, reps = line.split()
        if work not in made:
            run = build(work)
            answers = [run() for _ in range(2)]
            made[work] = run, [{k: float(v) for k, v in (a or {}).items()} for a in answers]
        run, answers = made[work]
        times, cpu_times = [], []
        for _ in range(int(reps)):
            start, cpu_start = time.perf_counter(), time.process_time()
            run()
            wait()
            cpu_times.append(1e3 * (time.process_time() - cpu_start))
            times.append(1e3 * (time.perf_counter() - start))
        print(json.dumps({"work": work, "ms": times, "cpu_ms": cpu_times, "answers": answers}),
              flush=True)


if __name__ == "__main__":
    main()
