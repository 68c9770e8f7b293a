"""PNG files of ours decode, with Python's zlib, to the pixels they were made from.

usage: read_png.py PEER   (the program of tests/peers/png_peer.cpp)
"""
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path


def decode(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        (crc,) = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert crc == zlib.crc32(kind + body), kind
        chunks.append((kind, body))
        at += 12 + length
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b"")
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert depth == 8 and colour in (2, 3) and rest == [0, 0, 0]
    stream = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    size = 3 if colour == 2 else 1
    stride = width * size
    assert len(stream) == height * (stride + 1)
    above, rows = bytes(stride), []
    for y in range(height):
        filter_, row = stream[y * (stride + 1)], bytearray(stream[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        assert filter_ in (0, 1, 2), filter_
        for i in range(stride if filter_ else 0):
            left = row[i - size] if i >= size else 0
            row[i] = (row[i] + (left if filter_ == 1 else above[i])) & 255
        rows.append(bytes(row))
        above = row
    samples = b"".join(rows)
    if colour == 2:
        return colour, samples
    palette = dict(chunks)[b"PLTE"]
    return colour, b"".join(palette[3 * i:3 * i + 3] for i in samples)


def main(peer):
    folder = Path(tempfile.mkdtemp(prefix="agora-png-"))
    subprocess.run([peer, str(folder)], check=True)
    colours = {}
    for file in sorted(folder.glob("*.png")):
        colours[file.stem], pixels = decode(file.read_bytes())
        assert pixels == file.with_suffix(".rgb").read_bytes(), file
        print(f"{file.stem}: {len(pixels)} bytes of pixels in {file.stat().st_size}")
    assert len(colours) == 7, colours
    assert colours["palette"] == 3 and colours["no_palette"] == 2, colours
    assert (folder / "flat.png").stat().st_size < 3000


main(sys.argv[1])
