"""What bench_auctions publishes for its peers."""
from safetensors import safe_open


def load(file):
    """Arrays and numbers by name."""
    with safe_open(file, "numpy") as opened:
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}
        numbers = {name: float(text) for name, text in (opened.metadata() or {}).items()}
    return arrays, {k: int(v) if v == int(v) else v for k, v in numbers.items()}


def layers(arrays, prefix, *parts):
    """[(part, part, ...), ...] of the layers prefix.0, prefix.1, ..."""
    result = []
    while f"{prefix}.{len(result)}.{parts[0]}" in arrays:
        result.append(tuple(arrays[f"{prefix}.{len(result)}.{part}"] for part in parts))
    return result
