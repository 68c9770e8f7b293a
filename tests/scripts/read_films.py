"""Animations of ours, PNG and GIF, play in Pillow as they were made.

usage: read_films.py PEER   (the program of tests/peers/films_peer.cpp)
Exits 77 where the Python package is absent.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from PIL import Image, ImageSequence
except ImportError as missing:
    print(f"skipped: {missing}; install it with: pip install pillow")
    sys.exit(77)


def seen(file):
    """Its frames as (pixels, milliseconds); what is shown twice in a row counts once, for longer."""
    with Image.open(file) as film:
        assert film.is_animated and film.info.get("loop") == 0, file
        return merged((frame.convert("RGB").tobytes(), frame.info["duration"])
                      for frame in ImageSequence.Iterator(film))


def merged(frames):
    result = []
    for pixels, time in frames:
        if result and result[-1][0] == pixels:
            result[-1] = (pixels, result[-1][1] + time)
        else:
            result.append((pixels, time))
    return result


def main(peer):
    folder = Path(tempfile.mkdtemp(prefix="agora-films-"))
    subprocess.run([peer, str(folder)], check=True)
    for name in "few", "many", "still":
        width, height, *times = map(int, (folder / f"{name}.txt").read_text().split())
        pixels, size = (folder / f"{name}.rgb").read_bytes(), 3 * width * height
        made = merged((pixels[k * size:(k + 1) * size], time) for k, time in enumerate(times))
        for file in folder / f"{name}.png", folder / f"{name}.gif":
            found = seen(file)
            assert [time for _, time in found] == [time for _, time in made], file
            assert found == made, file
            print(f"{file.name}: {len(times)} frames in {file.stat().st_size} bytes")


main(sys.argv[1])
