"""mpirun -n 1, 2, 4 agora plan solve: one answer, that of method z in one process.

Usage: mpi_solve.py AGORA. Exits with 77 where PETSc or mpirun is absent.
"""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

AGORA = str(pathlib.Path(sys.argv[1]).resolve())
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")
failures = []


def run(*words, ranks=None):
    launcher = ["mpirun", "-q", "-n", str(ranks)] if ranks else []
    return subprocess.run([*launcher, AGORA, *words], capture_output=True, text=True,
                          env=ENVIRONMENT, timeout=240)


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message)


def table(file):
    with open(file, newline="") as rows:
        return list(csv.reader(rows))


def same_tables(ours, theirs, what, tolerance):
    expect(ours[0] == theirs[0], f"{what}: columns {ours[0]}, not {theirs[0]}")
    expect(len(ours) == len(theirs), f"{what}: {len(ours)} rows, not {len(theirs)}")
    numbers = [2, 3, *range(5, len(theirs[0]))]
    for our, their in zip(ours[1:], theirs[1:]):
        same = our[:2] == their[:2]
        for k in numbers:
            same &= (our[k] == "") == (their[k] == "")
            same &= our[k] == "" or abs(float(our[k]) - float(their[k])) <= 2 * tolerance
        expect(same, f"{what}: row {our}, not {their}")
        if not same:
            break


def agrees(source, *options, tolerance=1e-6):
    alone = json.loads(run("plan", "solve", source, "--method", "z", "--json", "--tolerance",
                           str(tolerance), "--out", "alone.csv", *options).stdout)
    rows = table("alone.csv")
    for ranks in (1, 2, 4):
        result = run("plan", "solve", source, "--method", "z-petsc", "--json", "--tolerance",
                     str(tolerance), "--out", "shared.csv", *options, ranks=ranks)
        what = f"{source} on {ranks} ranks"
        if result.returncode != 0:
            expect(False, f"{what}: status {result.returncode}: {result.stderr}")
            continue
        expect(result.stdout.count("\n") == 1, f"{what}: one line, found {result.stdout}")
        shared = json.loads(result.stdout)
        expect(shared["ranks"] == ranks, f"{what}: it says {shared['ranks']} ranks")
        for key in ("states", "start", "action"):
            expect(shared[key] == alone[key], f"{what}: {key} {shared[key]}, not {alone[key]}")
        for key in ("value", "log_z"):
            expect(abs(shared[key] - alone[key]) <= 2 * tolerance,
                   f"{what}: {key} {shared[key]}, not {alone[key]}")
        for ours, theirs in zip(shared["policy"] or [], alone["policy"] or []):
            expect(abs(ours - theirs) <= 1e-5, f"{what}: policy {shared['policy']}")
        same_tables(table("shared.csv"), rows, what, tolerance)


def refuses(source, line, *options):
    result = run("plan", "solve", source, *options, ranks=3)
    expect(result.returncode == 2, f"{source}: status {result.returncode}, not 2")
    expect(result.stderr == f"agora: {line}\n", f"{source}: said {result.stderr!r}, not {line!r}")


def check_maps():
    rows = ["S..#...3.!", ".##....3..", "...S.#....", "2222.#.#..", "!..#...#.G", "##########",
            "...3....S#", ".#.....#.!"]
    written = "\n\n" + "\n".join(rows) + "\n\n"
    pathlib.Path("small.map").write_text(written)
    agrees("small.map", "--beta", "0.3", "--goal-reward", "5", "--pit-reward", "-7")
    pathlib.Path("flat.map").write_text("S...G")
    agrees("flat.map")
    pathlib.Path("open.map").write_text("...#\r\n..!.\r\n#..G\r\n")
    agrees("open.map", "--step-reward", "-2")
    refuses("small.map", "several processes share deterministic models only; this one is "
                         "stochastic", "--slip", "0.1")
    pathlib.Path("blank.map").write_text("\n".join(rows[:5] + ["", ""] + rows[5:]))
    refuses("blank.map", "blank.map:6: an empty line inside the map")
    pathlib.Path("ragged.map").write_text("\n".join(rows[:6] + ["..."] + rows[6:]))
    refuses("ragged.map", "ragged.map:7: the row has 3 cells, the rows above have 10")
    pathlib.Path("cell.map").write_text("\n".join(rows + ["....x....."]))
    refuses("cell.map", "cell.map:9: column 5: unknown cell 'x', expected one of #.SG!123456789")
    pathlib.Path("walls.map").write_text("###\n###\n###\n")
    refuses("walls.map", "walls.map: the map is empty: it has no free cell")


def main():
    if not json.loads(run("version", "--json").stdout)["features"]["petsc"]:
        print("skipped: this build has no PETSc and MPI (libpetsc-real-dev, openmpi-bin)")
        return 77
    if not shutil.which("mpirun"):
        print("skipped: no mpirun (openmpi-bin)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        random = "random(states=3000,branching=1,actions=3,seed=4)"
        maze = "maze(rows=21,cols=31,seed=7,loops=.1)"
        for source, file in ((random, "random.csv"), (random, "random.drn"), (maze, "maze.csv")):
            run("plan", "convert", source, "--out", file)
            agrees(file, "--beta", "0.7")
        agrees(random)
        agrees(maze)
        agrees("decision-tree", "--beta", "3")
        agrees("benchmark-grid(n=60)", "--mu", "-1.5")
        agrees("benchmark-grid(n=30)", "--beta", "0", "--mu", "-1.39")
        agrees("benchmark-grid(n=300)", "--beta", "0", "--mu", "-1.39", tolerance=1e-4)

        check_maps()
        rows = pathlib.Path("random.csv").read_text().splitlines()
        header = rows[0]
        bad = rows.copy()
        bad[4000] = bad[4000].replace(",1,", ",0.5,")
        pathlib.Path("sum.csv").write_text("\n".join(bad) + "\n")
        state, action = bad[4000].split(",")[:2]
        refuses("sum.csv", f"sum.csv:4001: state '{state}', action '{action}': probabilities sum "
                           "to 0.5, expected 1")
        bad = rows.copy()
        bad[-1] = "2998,0,2999,1,nan"
        pathlib.Path("nan.csv").write_text("\n".join(bad) + "\n")
        refuses("nan.csv", f"nan.csv:{len(bad)}: column 'reward': expected a finite number, "
                           "found 'nan'")
        pathlib.Path("dead.csv").write_text(f"{header}\na,x,a,1,-1\nb,x,c,1,-1\n")
        refuses("dead.csv", "start state 'a' cannot reach a terminal state")
        pathlib.Path("loop.csv").write_text(f"{header}\na,x,b,1,2\nb,x,a,1,2\na,y,c,1,0\n")
        result = run("plan", "solve", "loop.csv", "--mu", "-1", ranks=2)
        expect(result.returncode == 2 and "Z was not found" in result.stderr, result.stderr)
        refuses("decision-tree", "cannot write none/v.csv: No such file or directory", "--out",
                "none/v.csv")
        refuses("decision-tree", "--picture and --report need the solution in one process: method "
                                 "z", "--picture", "tree.png")
        refuses("random.csv", "method 'vi' runs in one process; mpirun takes z-petsc", "--method",
                "vi")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
