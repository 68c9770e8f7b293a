"""Files of ours load in Python's safetensors, and theirs load here.

usage: safetensors_roundtrip.py PEER   (the program of tests/peers/safetensors_peer.cpp)
Exits 77 where the Python package is absent.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy
    import safetensors
    from safetensors.numpy import load_file, save_file
except ImportError as missing:
    print(f"skipped: {missing}; install it with: pip install safetensors numpy")
    sys.exit(77)


def counting(dtype, *shape):
    return numpy.arange(1, 1 + int(numpy.prod(shape)), dtype=dtype).reshape(shape)


def main(peer):
    def run(*arguments):
        return subprocess.run([peer, *map(str, arguments)], check=True, text=True,
                              capture_output=True).stdout

    folder = Path(tempfile.mkdtemp(prefix="agora-safetensors-"))
    expected = {
        "layer.0/weight": counting("float32", 3, 2), "doubles": counting("float64", 5),
        "ints": counting("int32", 2, 2, 1), "longs": numpy.array(1, "int64"),
        'bytes "quoted" ü': counting("uint8", 7), "bools": numpy.array([True, False, True]),
        "empty": numpy.zeros((0, 4), "float32"),
    }

    # Ours, read by Python.
    run("write", folder / "ours.safetensors")
    ours = load_file(folder / "ours.safetensors")
    assert ours.keys() == expected.keys(), ours.keys()
    for name, array in expected.items():
        assert ours[name].dtype == array.dtype and ours[name].shape == array.shape, name
        assert numpy.array_equal(ours[name], array), name
    with safetensors.safe_open(folder / "ours.safetensors", "numpy") as opened:
        assert opened.metadata() == {"format": "pt", "step": "12"}, opened.metadata()

    # Theirs, read by us and written again: every dtype numpy has, with values that need all bits.
    draws = numpy.random.default_rng(7)
    theirs = dict(expected)
    for dtype in ("int8", "int16", "uint16", "uint32", "uint64", "int64"):
        limits = numpy.iinfo(dtype)
        theirs[dtype] = draws.integers(limits.min, limits.max, (4, 5), dtype, endpoint=True)
    for dtype in ("float16", "float32", "float64"):
        theirs[dtype] = draws.normal(size=(6, 3)).astype(dtype)
    save_file(theirs, folder / "theirs.safetensors", {"note": "from Python"})
    run("copy", folder / "theirs.safetensors", folder / "copy.safetensors")
    copied = load_file(folder / "copy.safetensors")
    assert copied.keys() == theirs.keys(), copied.keys()
    for name, array in theirs.items():
        assert copied[name].dtype == array.dtype, name
        assert copied[name].shape == array.shape and copied[name].tobytes() == array.tobytes(), name

    # Their half-precision numbers, converted by us.
    halves = numpy.array([0.1, -65504, 6e-8, -0.0, 1e-5, 2 / 3], "float16")
    for i, half in enumerate(halves):
        save_file({"h": halves[i:i + 1]}, folder / "half.safetensors")
        printed = run("print", folder / "half.safetensors").split()
        assert printed[1] == "F16" and float(printed[3]) == float(half), (printed, half)
    print(f"{len(expected)} tensors of ours and {len(theirs)} of theirs agree "
          f"(safetensors {safetensors.__version__})")


main(sys.argv[1])
