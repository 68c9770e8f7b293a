"""Our optimisers make PyTorch's updates: 100 steps from the same state, compared to 1e-6.

usage: compare_optimisers.py PEER   (the program of tests/peers/optimisers_peer.cpp)
"""
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
    from safetensors.torch import load_file
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

STEPS = 100
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}


def optimiser_of(name, params):
    if name == "sgd":
        return torch.optim.SGD(params, lr=0.05)
    if name == "sgd-momentum":
        return torch.optim.SGD(params, lr=0.02, momentum=0.9, weight_decay=0.01)
    if name == "adam":
        return torch.optim.Adam(params, lr=1e-3)
    if name == "adamw":
        return torch.optim.AdamW(params, lr=1e-3, weight_decay=0.1)
    assert name == "adamw-clipped-scheduled", name
    return torch.optim.AdamW(params, lr=1e-2, weight_decay=0.1)


def train(name, tensors):
    params = {k.removeprefix("first."): v.clone().requires_grad_(True)
              for k, v in tensors.items() if k.startswith("first.")}
    optimiser = optimiser_of(name, list(params.values()))
    schedule = None
    if name.endswith("scheduled"):
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: 1 + (0.1 - 1) * min(step / 60, 1))
    for _ in range(STEPS):
        x = tensors["x"]
        for layer in range(3):
            x = x @ params[f"mlp.{layer}.weight"] + params[f"mlp.{layer}.bias"]
            x = torch.tanh(x) if layer < 2 else x
        loss = ((x - tensors["target"])**2).mean()
        optimiser.zero_grad()
        loss.backward()
        if "clipped" in name:
            torch.nn.utils.clip_grad_norm_(params.values(), 0.05)
        optimiser.step()
        if schedule:
            schedule.step()
    return params


def main(peer):
    folder = Path(tempfile.mkdtemp(prefix="agora-optimisers-"))
    subprocess.run([peer, str(folder)], check=True)
    files = sorted(folder.glob("*.safetensors"))
    assert len(files) == 10, files
    failed = False
    for file in files:
        name, kind = file.stem.rsplit("-", 1)
        kind = getattr(torch, kind)
        tensors = {k: v.to(kind) for k, v in load_file(file).items()}
        params = train(name, tensors)
        assert len(params) == 6, params.keys()
        moved = max((tensors[f"last.{k}"] - tensors[f"first.{k}"]).abs().max() for k in params)
        worst = max((v.detach() - tensors[f"last.{k}"]).abs().max() for k, v in params.items())
        good = worst <= TOLERANCE[kind] and moved > 1e-2
        failed |= not good
        print(f"{file.stem}: parameters moved {moved:.3f}, differ by {worst:.2e}"
              f"{'' if good else '  FAILED'}")
    return failed


sys.exit(main(sys.argv[1]))
