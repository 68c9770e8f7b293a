"""The works of bench/compare auctions without networks, in NumPy and HiGHS."""
import highspy
import numpy as np

from inputs import load

VIOLATION = 1e-9  # a constraint violated by less holds
PER_TYPE = 3      # constraints that a type may add in one round: the worst ones
CHUNK = 250       # profiles for which all sets of bidders are tried at once


def run_vcg(arrays):
    bids = arrays["bids"]

    def run():
        won = bids == bids.max(1, keepdims=True)
        second = np.where(won, 0, bids).max(1, keepdims=True)
        allocation = won.astype(np.float64)
        payment = (allocation * second).sum(-1)
        return {"revenue": payment.sum(-1).mean()}
    return run


def run_entry_fees(arrays):
    """Of all sets of bidders the one that is worth the most after its fees enters."""
    bids, weights = arrays["bids"], arrays["weights"].astype(np.float64)
    fees, reserves = arrays["fees"].astype(np.float64), arrays["reserves"].astype(np.float64)
    bidders = bids.shape[1]
    sets = np.arange(1 << bidders)
    member = (sets[:, None] >> np.arange(bidders)) & 1
    costs = member @ (weights * fees)

    def paid(bids):
        worths = weights[:, None] * (bids - reserves)
        held = np.zeros((len(sets), len(bids), bids.shape[2]))
        for one in range(1, len(sets)):
            lowest = (one & -one).bit_length() - 1
            held[one] = np.maximum(held[one & (one - 1)], worths[:, lowest])
        sums = held.sum(-1) - costs[:, None]
        best = sums.argmax(0)
        most = held[best, np.arange(len(bids))]
        won = (worths == most[:, None]) & (most[:, None] > 0) & (member[best] == 1)[:, :, None]
        own = weights * np.where(won, bids, 0).sum(-1)
        without = np.stack([sums[member[:, i] == 0].max(0) for i in range(bidders)], 1)
        return np.where(member[best] == 1, without - (sums.max(0)[:, None] - own), 0) / weights

    def run():
        chunks = [paid(bids[k:k + CHUNK]).sum() for k in range(0, len(bids), CHUNK)]
        return {"revenue": sum(chunks) / len(bids)}
    return run


def lp(arrays):
    """The optimal sale to one bidder: constraints of truth are added as they are violated.

    Columns: utility of each type, then the shares (types, 2) that it gets.
    """
    grid = arrays["grid"]
    side = len(grid)
    types = side * side
    values = np.stack(np.meshgrid(grid, grid, indexing="ij"), -1).reshape(types, 2)

    def add_rows(solver, pairs):
        """u(type) - u(other) >= (v(type) - v(other)) . share(other)."""
        one, other = pairs.T
        columns = np.stack([one, other, types + 2 * other, types + 2 * other + 1], 1)
        ones = np.ones(len(pairs))
        entries = np.stack([ones, -ones, *(values[other] - values[one]).T], 1)
        solver.addRows(len(pairs), np.zeros(len(pairs)), np.full(len(pairs), highspy.kHighsInf),
                       columns.size, np.arange(0, columns.size, 4, dtype=np.int32),
                       columns.ravel().astype(np.int32), entries.ravel())

    def neighbours():
        place = np.arange(types).reshape(side, side)
        near = [np.stack([place[1:].ravel(), place[:-1].ravel()], 1),
                np.stack([place[:, 1:].ravel(), place[:, :-1].ravel()], 1)]
        return np.concatenate([pairs[:, order] for pairs in near for order in ([0, 1], [1, 0])])

    def violated(utility, shares, known):
        gain = values @ shares.T + (utility - (values * shares).sum(-1)) - utility[:, None]
        worst = np.argpartition(-gain, PER_TYPE, axis=1)[:, :PER_TYPE]
        one = np.repeat(np.arange(types), PER_TYPE)
        pairs = np.stack([one, worst.ravel()], 1)[gain[one, worst.ravel()] > VIOLATION]
        return pairs[[tuple(pair) not in known for pair in pairs.tolist()]] if len(pairs) else pairs

    def run():
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
        solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
        gain = np.concatenate([np.full(types, -1 / types), values.ravel() / types])
        high = np.concatenate([np.full(types, highspy.kHighsInf), np.ones(2 * types)])
        none = np.zeros(0, dtype=np.int32)
        solver.addCols(3 * types, gain, np.zeros(3 * types), high, 0, none, none, np.zeros(0))
        solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        pairs, known = neighbours(), set()
        while len(pairs):
            add_rows(solver, pairs)
            known.update(map(tuple, pairs.tolist()))
            solver.run()  # from the basis of the round before
            x = np.array(solver.getSolution().col_value)
            pairs = violated(x[:types], x[types:].reshape(types, 2), known)
        return {"revenue": solver.getObjectiveValue()}
    return run


def make(work, file):
    arrays, _ = load(file)
    works = {"run-vcg-3x10": run_vcg, "run-entry-fees-8x20": run_entry_fees, "lp-1x2-50": lp}
    return works[work](arrays)
