"""RegretNet, EquivariantNet and ALGnet in PyTorch, with the shapes of jax_auctions.py.

make(work) gives a function without arguments that runs one outer iteration.
"""
import math

import torch
from torch import nn

HIDDEN = {"1x2": 2, "2x2": 2, "3x10": 5, "5x10": 5}  # RegretNet's hidden layers of 100


def mlp(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        linear = nn.Linear(a, b)
        nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def misreport_profiles(values, misreports):
    """(batch, n, m) twice -> (batch, n, n, m): profile i has bidder i's misreport in row i."""
    n = values.shape[1]
    own = torch.eye(n, dtype=torch.bool)[None, :, :, None]
    return torch.where(own, misreports[:, :, None, :], values[:, None, :, :])


def misreport_utilities(mechanism, values, misreports):
    batch, n, m = values.shape
    profiles = misreport_profiles(values, misreports).reshape(batch * n, n, m)
    allocation, payment = mechanism(profiles)
    allocation = allocation.reshape(batch, n, n, m).diagonal(dim1=1, dim2=2).movedim(-1, 1)
    payment = payment.reshape(batch, n, n).diagonal(dim1=1, dim2=2)
    return (allocation * values).sum(-1) - payment


def lagrangian_iteration(mechanism, steps, rate):
    """Misreport ascent, then one step on the augmented Lagrangian."""
    params = list(mechanism.parameters())
    optimiser = torch.optim.Adam(params, lr=1e-3)

    def iteration(values, misreports, multipliers, penalty):
        for p in params:
            p.requires_grad_(False)
        guess = misreports.clone().requires_grad_(True)
        ascent = torch.optim.Adam([guess], lr=rate)
        for _ in range(steps):
            guess.grad = None
            (-misreport_utilities(mechanism, values, guess).sum()).backward()
            ascent.step()
            with torch.no_grad():
                guess.clamp_(0, 1)
        misreports = guess.detach()
        for p in params:
            p.requires_grad_(True)
        allocation, payment = mechanism(values)
        truthful = (allocation * values).sum(-1) - payment
        gain = misreport_utilities(mechanism, values, misreports) - truthful
        regret = gain.relu().mean(0)
        revenue = payment.sum(-1).mean()
        loss = -revenue + (multipliers * regret).sum() + penalty / 2 * (regret**2).sum()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return misreports, revenue.detach(), regret.detach()
    return iteration


def lagrangian_work(mechanism, n, m, batch, rate):
    torch.manual_seed(1)
    values = torch.rand(batch, n, m)
    held = [torch.rand(batch, n, m)]
    iteration = lagrangian_iteration(mechanism, 25, rate)

    def run():
        held[0] = iteration(values, held[0], torch.full((n,), 5.0), 1.0)[0]
    return run


class RegretNet(nn.Module):
    def __init__(self, n, m, hidden):
        super().__init__()
        self.n, self.m = n, m
        self.allocation = mlp([n * m, *[100] * hidden, (n + 1) * (m + 1)])
        self.payment = mlp([n * m, *[100] * hidden, n])

    def forward(self, bids):
        n, m = self.n, self.m
        flat = bids.reshape(-1, n * m)
        logits = self.allocation(flat).reshape(-1, n + 1, m + 1)
        allocation = logits.softmax(1)[:, :n, :m]
        fraction = self.payment(flat).sigmoid()
        return allocation, fraction * (allocation * bids).sum(-1)


def regretnet(size):
    n, m = map(int, size.split("x"))
    return lagrangian_work(RegretNet(n, m, HIDDEN[size]), n, m, 128, 0.1)


class Exchangeable(nn.Module):
    """(rows, n, m, in) -> (rows, n, m, out)."""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        bound = math.sqrt(6 / (fan_in + fan_out)) / 2
        self.weight = nn.Parameter(torch.empty(4, fan_in, fan_out).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(fan_out))

    def forward(self, x):
        over_bidders = x.mean(1, keepdim=True)
        over_items = x.mean(2, keepdim=True)
        over_both = over_bidders.mean(2, keepdim=True)
        return (x @ self.weight[0] + over_bidders @ self.weight[1] + over_items @ self.weight[2]
                + (over_both @ self.weight[3] + self.bias))


def exchangeable_net():
    return nn.Sequential(Exchangeable(1, 25), nn.Tanh(), Exchangeable(25, 25), nn.Tanh(),
                         Exchangeable(25, 25), nn.Tanh(), Exchangeable(25, 1))


class EquivariantNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.sold, self.split = exchangeable_net(), exchangeable_net()
        self.payment = exchangeable_net()

    def forward(self, bids):
        x = bids[..., None]
        sold = self.sold(x)[..., 0].mean(1, keepdim=True).sigmoid()
        allocation = sold * self.split(x)[..., 0].softmax(1)
        fraction = self.payment(x)[..., 0].mean(2).sigmoid()
        return allocation, fraction * (allocation * bids).sum(-1)


def equivariantnet(size):
    n, m = map(int, size.split("x"))
    return lagrangian_work(EquivariantNet(), n, m, 500, 0.001)


class AlgNet(nn.Module):
    """The auctioneer."""

    def __init__(self, n, m, hidden):
        super().__init__()
        self.n, self.m = n, m
        self.sold, self.split = mlp([n * m, *hidden, m]), mlp([n * m, *hidden, m])
        self.payment = mlp([n * m, *hidden, 1])
        self.order = torch.tensor([[i] + [k for k in range(n) if k != i] for i in range(n)])

    def seen_by_each(self, bids):
        return bids[:, self.order].reshape(-1, self.n, self.n * self.m)

    def allocate(self, bids, views):
        sold = self.sold(bids.reshape(-1, self.n * self.m)).sigmoid()
        return sold[:, None, :] * self.split(views).softmax(1)

    def truthful(self, values):
        views = self.seen_by_each(values)
        worth = (self.allocate(values, views) * values).sum(-1)
        payment = self.payment(views).sigmoid()[..., 0] * worth
        return worth - payment, payment

    def deviating(self, values, misreports):
        rows, n, m = values.shape
        profiles = misreport_profiles(values, misreports).reshape(rows * n, n, m)
        views = self.seen_by_each(profiles)
        allocation = self.allocate(profiles, views).reshape(rows, n, n, m)
        allocation = allocation.diagonal(dim1=1, dim2=2).movedim(-1, 1)
        own_view = views.reshape(rows, n, n, n * m).diagonal(dim1=1, dim2=2).movedim(-1, 1)
        fraction = self.payment(own_view).sigmoid()[..., 0]
        return (allocation * values).sum(-1) - fraction * (allocation * misreports).sum(-1)


def algnet_iteration(auctioneer, misreporter, misreporter_steps, rate):
    """Steps of the misreporter's parameters, then one of the auctioneer's."""
    params = list(auctioneer.parameters())
    auctioneer_optimiser = torch.optim.AdamW(params, lr=rate, weight_decay=1e-2)
    misreporter_optimiser = torch.optim.AdamW(misreporter.parameters(), lr=rate, weight_decay=1e-2)

    def iteration(values):
        views = auctioneer.seen_by_each(values)
        for p in params:
            p.requires_grad_(False)
        for _ in range(misreporter_steps):
            misreporter_optimiser.zero_grad(set_to_none=True)
            misreports = misreporter(views).sigmoid()
            (-auctioneer.deviating(values, misreports).sum(-1).mean()).backward()
            misreporter_optimiser.step()
        for p in params:
            p.requires_grad_(True)
        with torch.no_grad():
            misreports = misreporter(views).sigmoid()
        utility, payment = auctioneer.truthful(values)
        revenue = payment.sum(-1).mean()
        regret = (auctioneer.deviating(values, misreports) - utility).relu().sum(-1).mean()
        loss = -(revenue.sqrt() - (regret + 1e-8).sqrt()) + regret
        auctioneer_optimiser.zero_grad(set_to_none=True)
        loss.backward()
        auctioneer_optimiser.step()
        return revenue.detach(), regret.detach()
    return iteration


def algnet(size):
    n, m = map(int, size.split("x"))
    hidden = [100, 100, 100]
    iteration = algnet_iteration(AlgNet(n, m, hidden), mlp([n * m, *hidden, m]), 100, 1e-3)
    values = torch.rand(500, n, m)

    def run():
        iteration(values)
    return run


WORKS = {"regretnet": regretnet, "equivariantnet": equivariantnet, "algnet": algnet}


def make(work):
    family, size = work.split("-")
    torch.manual_seed(0)
    return WORKS[family](size)
