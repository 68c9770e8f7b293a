"""The works of bench/compare auctions in PyTorch, as in jax_auction_works.py."""
import torch

from inputs import layers, load
from torch_auctions import (AlgNet, EquivariantNet, RegretNet, algnet_iteration,
                            lagrangian_iteration, mlp)

RUN_CHUNK = 2000           # profiles at a time: the fastest of those tried
DROPS = (10, 30, 60, 120)  # steps after which the worse half of the starts is left behind


def fill(net, given):
    """Copies given arrays [(weight (in, out), bias), ...] into the linear layers of a network."""
    with torch.no_grad():
        for linear, (weight, bias) in zip(net[::2], given, strict=True):
            linear.weight.copy_(torch.from_numpy(weight).T)
            linear.bias.copy_(torch.from_numpy(bias))
    return net


def with_weights(mechanism, arrays, *names):
    for name in names:
        fill(getattr(mechanism, name), layers(arrays, name, "weight", "bias"))
    return mechanism


def equivariantnet(arrays):
    net = EquivariantNet()
    with torch.no_grad():
        for name in ("sold", "split", "payment"):
            given = layers(arrays, name, "own", "column", "row", "total", "bias")
            for layer, (*weights, bias) in zip(getattr(net, name)[::2], given, strict=True):
                layer.weight.copy_(torch.stack([torch.from_numpy(w) for w in weights]))
                layer.bias.copy_(torch.from_numpy(bias))
    return net


def run_equivariantnet(arrays, _):
    net = equivariantnet(arrays)
    bids = torch.from_numpy(arrays["bids"]).float()

    def run():
        with torch.no_grad():
            outcomes = [net(chunk) for chunk in bids.split(RUN_CHUNK)]
            payment = torch.cat([payment for _, payment in outcomes])
        return {"revenue": payment.sum(-1).mean()}
    return run


def run_vcg(arrays, _):
    bids = torch.from_numpy(arrays["bids"])

    def run():
        won = bids == bids.amax(1, keepdim=True)
        second = bids.masked_fill(won, 0).amax(1, keepdim=True)
        allocation = won.double()
        payment = (allocation * second).sum(-1)
        return {"revenue": payment.sum(-1).mean()}
    return run


def audit_regretnet(arrays, numbers):
    """Adam on every start, as the thesis tests for regret; bids (profiles, n, starts, m)."""
    values = torch.from_numpy(arrays["values"]).float()
    _, n, m = values.shape
    starts = torch.stack([torch.from_numpy(arrays[f"starts.{i}"]).float() for i in range(n)], 1)
    hidden = len(layers(arrays, "allocation", "weight")) - 1
    net = with_weights(RegretNet(n, m, hidden), arrays, "allocation", "payment")
    net.requires_grad_(False)
    own = torch.eye(n, dtype=torch.bool)[None, :, None, :, None]

    def utilities(values, bids):
        profiles, _, count, _ = bids.shape
        all_bids = torch.where(own, bids[:, :, :, None, :], values[:, None, None, :, :])
        allocation, payment = net(all_bids.reshape(-1, n, m))
        allocation = allocation.reshape(profiles, n, count, n, m).diagonal(dim1=1, dim2=3)
        payment = payment.reshape(profiles, n, count, n).diagonal(dim1=1, dim2=3)
        worth = (allocation.movedim(-1, 1) * values[:, :, None, :]).sum(-1)
        return worth - payment.movedim(-1, 1)

    def gains(values, bids):
        with torch.no_grad():
            honest = utilities(values, values[:, :, None, :])[..., 0]
        best = honest
        first, second = torch.zeros_like(bids), torch.zeros_like(bids)
        reached = torch.full(bids.shape[:3], -torch.inf)
        for step in range(1, numbers["steps"] + 1):
            bids.requires_grad_(True)
            utility = utilities(values, bids)
            gradient, = torch.autograd.grad(utility.sum(), bids)
            with torch.no_grad():
                utility, bids = utility.detach(), bids.detach()
                reached = torch.maximum(reached, utility)
                best = torch.maximum(best, utility.amax(-1))
                if step in DROPS:
                    reached, kept = reached.topk((bids.shape[2] + 1) // 2)
                    kept = kept[..., None].expand(-1, -1, -1, m)
                    bids, gradient, first, second = (x.gather(2, kept)
                                                     for x in (bids, gradient, first, second))
                first.mul_(0.9).add_(gradient, alpha=0.1)
                second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
                spread = (second / (1 - 0.999**step)).sqrt_().add_(1e-8)
                bids = bids.addcdiv(first, spread, value=numbers["rate"] / (1 - 0.9**step))
                bids.clamp_(0, 1)
        with torch.no_grad():
            return torch.maximum(best, utilities(values, bids).amax(-1)) - honest

    def run():
        found = gains(values, starts.clone()).flatten().sort().values
        return {"regret": found.double().mean(), "p99": found[int(0.99 * len(found))]}
    return run


def train_lagrangian(mechanism, arrays, numbers):
    batch = numbers["batch"]
    sample = torch.from_numpy(arrays["values"])
    size, n, _ = sample.shape
    remembered = torch.from_numpy(arrays["buffer.misreports"]).reshape(sample.shape).clone()
    order = torch.from_numpy(arrays["order"])
    multipliers, penalty = torch.full((n,), float(numbers["multiplier"])), numbers["penalty"]
    iteration = lagrangian_iteration(mechanism, numbers["misreport_steps"],
                                     numbers["misreport_rate"])
    made = 0

    def run():
        nonlocal made, order, penalty
        first = made * batch % size
        if made > 0 and first == 0:
            order = torch.randperm(size)
        at = order[first:first + batch]
        misreports, revenue, regret = iteration(sample[at], remembered[at], multipliers, penalty)
        remembered[at] = misreports
        if made % numbers["multiplier_every"] == 0:
            multipliers.add_(regret, alpha=penalty)
        made += 1
        if made % numbers["penalty_every"] == 0:
            penalty += numbers["penalty_step"]
        return {"revenue": revenue, "regret": regret.mean()}
    return run


def train_regretnet(arrays, numbers):
    n, m = arrays["values"].shape[1:]
    net = with_weights(RegretNet(n, m, numbers["hidden"]), arrays, "allocation", "payment")
    return train_lagrangian(net, arrays, numbers)


def train_equivariantnet(arrays, numbers):
    return train_lagrangian(equivariantnet(arrays), arrays, numbers)


def train_algnet(arrays, numbers):
    """The first two batches are given, to compare what is found; later ones are drawn."""
    n, m = arrays["values"].shape[1:]
    batch = numbers["batch"]
    given = torch.from_numpy(arrays["values"]).split(batch)
    liars = layers(arrays, "misreporter", "weight", "bias")
    hidden = [len(bias) for _, bias in liars[:-1]]
    auctioneer = with_weights(AlgNet(n, m, hidden), arrays, "sold", "split", "payment")
    misreporter = fill(mlp([n * m, *hidden, m]), liars)
    iteration = algnet_iteration(auctioneer, misreporter, numbers["misreport_steps"],
                                 numbers["rate"])
    made = 0

    def run():
        nonlocal made
        values = given[made] if made < len(given) else torch.rand(batch, n, m)
        made += 1
        revenue, regret = iteration(values)
        return {"revenue": revenue, "regret": regret / n}
    return run


WORKS = {"run-equivariantnet": run_equivariantnet, "run-vcg": run_vcg,
         "audit-regretnet": audit_regretnet, "train-regretnet": train_regretnet,
         "train-equivariantnet": train_equivariantnet, "train-algnet": train_algnet}


def make(work, file):
    return WORKS[work.rsplit("-", 1)[0]](*load(file))
