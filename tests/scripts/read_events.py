"""TensorBoard reads the event files of ours.

usage: read_events.py PEER   (the program of tests/peers/tensorboard_peer.cpp)
Exits 77 where the Python package is absent.
"""
import math
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
except ImportError as missing:
    print(f"skipped: {missing}; install it with: pip install tensorboard")
    sys.exit(77)


def main(peer):
    folder = Path(tempfile.mkdtemp(prefix="agora-events-"))
    subprocess.run([peer, str(folder)], check=True)
    files = sorted(folder.iterdir())
    assert len(files) == 2, files
    assert all(file.name.startswith("events.out.tfevents.") for file in files), files

    # Every record passes the reader's checksums: header, 2 * 101 + 2 scalars; header, start, 60.
    counts = [len(list(RawEventFileLoader(str(file)).Load())) for file in files]
    assert counts == [205, 62], counts

    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    names = set(events.Tags()["scalars"])
    assert names == {"revenue", "regret/größe <max>", "far", "nan"}, names
    regret = events.Scalars("regret/größe <max>")
    # What the first writer wrote after step 60 is gone: the resumed run replaced it.
    assert [event.step for event in regret] == list(range(121)), [event.step for event in regret]
    for event in regret:
        assert event.value == numpy.float32(1 / (1 + event.step)), event
    assert all(event.value == numpy.float32(math.sqrt(event.step))
               for event in events.Scalars("revenue"))
    print(f"{sum(counts)} records read")


main(sys.argv[1])
