"""Our PPO's loss and gradient, with and without LEEP's penalty, agree with PyTorch's on one batch.

usage: compare_ppo.py PEER   (the program of tests/peers/ppo_peer.cpp)
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

CLIP, ENTROPY, VALUE, PENALTY = 0.2, 0.01, 0.5, 0.7
LOSSES = ["loss", "policy", "value", "entropy", "penalty"]
TOLERANCE = 1e-4  # of the gradient's norm, and of losses above 1


def conv(p, name, x):
    return F.conv2d(x, p[f"{name}.weight"].permute(3, 2, 0, 1), p[f"{name}.bias"], padding=1)


def dense(p, name, x):
    return x @ p[f"{name}.weight"] + p[f"{name}.bias"]


def mlp(p, x):
    for name in ("trunk.0", "trunk.1"):
        x = F.relu(dense(p, name, x.flatten(1)))
    return x


def impala(p, x):
    x = x.permute(0, 3, 1, 2)
    for i in range(3):
        x = F.max_pool2d(conv(p, f"trunk.{i}.conv", x), 3, 2, padding=1)
        for block in (f"trunk.{i}.first", f"trunk.{i}.second"):
            x = x + conv(p, f"{block}.second", F.relu(conv(p, f"{block}.first", F.relu(x))))
    return F.relu(dense(p, "trunk.dense", F.relu(x).permute(0, 2, 3, 1).flatten(1)))


def losses(features, p, b, link):
    x = features(p, b["observations"].double() / 255)
    logits, value = dense(p, "actor", x), dense(p, "critic", x)[:, 0]
    policy_now = torch.distributions.Categorical(logits=logits)
    advantage = (b["advantages"] - b["advantages"].mean()) / (b["advantages"].std() + 1e-8)
    ratio = (policy_now.log_prob(b["actions"]) - b["log_probs"]).exp()
    policy = torch.max(-advantage * ratio, -advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
    near = b["values"] + (value - b["values"]).clamp(-CLIP, CLIP)
    value_loss = 0.5 * torch.max((value - b["returns"])**2, (near - b["returns"])**2).mean()
    entropy = policy_now.entropy().mean()
    penalty = torch.zeros(())
    if link != "none":
        own = policy_now.probs.detach()
        linked = torch.max(own, b["others"]) if link == "max" else own + b["others"]
        penalty = torch.distributions.kl_divergence(
            policy_now, torch.distributions.Categorical(probs=linked)).mean()
    loss = policy + VALUE * value_loss - ENTROPY * entropy + PENALTY * penalty
    return torch.stack([loss, policy, value_loss, entropy, penalty])


def main(peer):
    folder = Path(tempfile.mkdtemp(prefix="agora-ppo-"))
    subprocess.run([peer, str(folder)], check=True)
    files = sorted(folder.glob("*.safetensors"))
    assert len(files) == 6, files
    failed = False
    for file in files:
        network, link = file.stem.split("-")
        # The peer computes in double: what differs is our rounding.
        given = {k: v.double() if v.is_floating_point() else v for k, v in load_file(file).items()}
        params = {k.removeprefix("parameter.policy."): v.requires_grad_(True)
                  for k, v in given.items() if k.startswith("parameter.")}
        found = losses({"mlp": mlp, "impala": impala}[network], params, given, link)
        found[0].backward()
        off = (given["losses"] - found.detach()).abs() / found.detach().abs().clamp(min=1)
        norm = torch.stack([v.grad.norm() for v in params.values()]).norm()
        slopes = {k: (given[f"gradient.policy.{k}"] - v.grad).norm() / norm
                  for k, v in params.items()}
        whole = torch.stack(list(slopes.values())).norm()
        wrong = not (whole <= TOLERANCE and off.max() <= TOLERANCE)
        failed |= wrong
        worst = max(slopes, key=slopes.get)
        print(f"{file.stem}: losses differ by {off.max():.1e} ({LOSSES[off.argmax()]}), the gradient "
              f"by {whole:.1e} of its norm {norm:.3f} (most {worst}){'  FAILED' if wrong else ''}")
    return failed


sys.exit(main(sys.argv[1]))
