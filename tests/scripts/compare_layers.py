"""Our layers and their gradients agree with PyTorch's on the same weights.

usage: compare_layers.py PEER   (the program of tests/peers/layers_peer.cpp)
"""
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
    from safetensors.torch import load_file
    from torch.nn import functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def conv(p, name, x):  # x (rows, h, w, c), weight (3, 3, in, out)
    y = F.conv2d(x.permute(0, 3, 1, 2), p[f"{name}.weight"].permute(3, 2, 0, 1),
                 p[f"{name}.bias"], padding=1)
    return y.permute(0, 2, 3, 1)


def pool(x):
    return F.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, padding=1).permute(0, 2, 3, 1)


def residual(p, name, x):
    return x + conv(p, f"{name}.second", F.relu(conv(p, f"{name}.first", F.relu(x))))


def dense(p, name, x):
    return x @ p[f"{name}.weight"] + p[f"{name}.bias"]


def mlp(p, x):
    x = torch.tanh(dense(p, "layer.0", x))
    return dense(p, "layer.2", torch.tanh(dense(p, "layer.1", x)))


def exchangeable(p, x):
    return (x @ p["layer.own"] + x.mean(1, keepdim=True) @ p["layer.column"]
            + x.mean(2, keepdim=True) @ p["layer.row"]
            + x.mean((1, 2), keepdim=True) @ p["layer.total"] + p["layer.bias"])


def impala(p, x):
    for i in range(3):
        x = pool(conv(p, f"layer.{i}.conv", x))
        x = residual(p, f"layer.{i}.second", residual(p, f"layer.{i}.first", x))
    return F.relu(dense(p, "layer.dense", F.relu(x).flatten(1)))


def gru(p, x, h):
    cell = torch.nn.GRUCell(4, 10)
    own = {"weight_ih": p["layer.input.weight"].T, "weight_hh": p["layer.hidden.weight"].T,
           "bias_ih": p["layer.input.bias"], "bias_hh": p["layer.hidden.bias"]}
    return torch.func.functional_call(cell, own, (x, h))


LAYERS = {
    "dense": lambda p, x: dense(p, "layer", x), "mlp": mlp, "exchangeable": exchangeable,
    "convolution": lambda p, x: conv(p, "layer", x), "pool": lambda p, x: pool(x),
    "residual": lambda p, x: residual(p, "layer", x), "impala": impala, "gru": gru,
}


def main(peer):
    folder = Path(tempfile.mkdtemp(prefix="agora-layers-"))
    subprocess.run([peer, str(folder)], check=True)
    files = {file.stem: load_file(file) for file in folder.glob("*.safetensors")}
    assert files.keys() == LAYERS.keys(), files.keys()
    failed = False
    for name, tensors in files.items():
        # The peer computes in double: what differs is our rounding.
        tensors = {k: v.double() for k, v in tensors.items()}
        inputs = [tensors[k].requires_grad_(True) for k in ("in0", "in1") if k in tensors]
        params = {k.removeprefix("parameter."): v.requires_grad_(True)
                  for k, v in tensors.items() if k.startswith("parameter.")}
        output = LAYERS[name](params, *inputs)
        (output * tensors["probe"]).sum().backward()
        pairs = {"output": output.detach()}
        pairs |= {f"gradient.in{i}": x.grad for i, x in enumerate(inputs)}
        pairs |= {f"gradient.{k}": v.grad for k, v in params.items()}
        worst = max((tensors[k] - v).abs().max() / (1 + v.abs().max()) for k, v in pairs.items())
        failed |= not worst <= 1e-5
        print(f"{name}: {len(pairs)} tensors, largest relative difference {worst:.2e}"
              f"{'' if worst <= 1e-5 else '  FAILED'}")
    return failed


sys.exit(main(sys.argv[1]))
