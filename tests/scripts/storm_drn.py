"""Lets Storm read the DRN files that we write and compares every number. Usage: storm_drn.py AGORA"""
import csv
import pathlib
import subprocess
import sys
import tempfile

try:
    import stormpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MODELS = ["random(states=60,branching=3)", "random(states=60,branching=1,terminals=4)"]


def expected(file):
    table, terminals, actions = {}, {}, {}
    with open(file, newline="") as rows:
        for row in csv.DictReader(rows):
            state = int(row["state"])
            if row["action"] == "":
                terminals[state] = float(row["reward"])
                continue
            action = actions.setdefault(row["action"], len(actions))
            landings = table.setdefault((state, action), ({}, float(row["reward"])))[0]
            landings[int(row["next_state"])] = float(row["probability"])
    return table, terminals


def number(value):
    """A method in old versions of stormpy, a number in new ones."""
    return value() if callable(value) else value


def main(program):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name in MODELS:
            for file in ("model.csv", "model.drn"):
                subprocess.run([program, "plan", "convert", name, "--out", str(folder / file)],
                               check=True, capture_output=True)
            table, terminals = expected(folder / "model.csv")
            model = stormpy.build_model_from_drn(str(folder / "model.drn"))
            rewards = model.reward_models["reward"]
            compared, row = 0, 0
            for state in model.states:
                for choice, action in enumerate(state.actions):
                    found = {t.column: number(t.value) for t in action.transitions}
                    if (state.id, choice) in table:
                        landings, reward = table[state.id, choice]
                        assert set(found) == set(landings), f"{name}: {state.id},{choice}"
                        assert all(abs(found[k] - landings[k]) < 1e-12 for k in found)
                        assert abs(rewards.state_action_rewards[row] - reward) < 1e-12
                        compared += len(found)
                    elif state.id in terminals:
                        assert abs(rewards.state_rewards[state.id] - terminals[state.id]) < 1e-12
                    row += 1
            assert len(model.states) == 1 + max(list(terminals) + [s for s, _ in table]) + 1
            print(f"{name}: Storm reads the same {compared} transitions and {len(terminals)} ends")


if __name__ == "__main__":
    main(sys.argv[1])
