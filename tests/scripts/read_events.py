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
    from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
    from tensorboard.context import RequestContext
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.hparams import backend_context, metadata
except ImportError as missing:
    print(f"skipped: {missing}; install it with: pip install tensorboard")
    sys.exit(77)


def main(peer):
    folder = Path(tempfile.mkdtemp(prefix="agora-events-"))
    subprocess.run([peer, str(folder)], check=True)
    files = sorted(folder.iterdir())
    assert len(files) == 2, files
    assert all(file.name.startswith("events.out.tfevents.") for file in files), files

    # Every record passes the reader's checksums: header, options, 2 * 101 + 2 scalars; header,
    # start, options, 60.
    counts = [len(list(RawEventFileLoader(str(file)).Load())) for file in files]
    assert counts == [206, 63], counts

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

    content = events.summary_metadata[metadata.SESSION_START_INFO_TAG].plugin_data.content
    options = metadata.parse_session_start_info_plugin_data(content).hparams
    assert {name: value.WhichOneof("kind") for name, value in options.items()} == {
        "verb": "string_value", "rate": "number_value", "bayesian": "bool_value"}, options
    assert options["verb"].string_value == "auction train", options
    assert options["rate"].number_value == 1e-3 and options["bayesian"].bool_value, options
    check_page(folder)
    print(f"{sum(counts)} records read")


def check_page(folder):
    """The page HPARAMS has a column for each option."""
    multiplexer = EventMultiplexer().AddRun(str(folder), "run").Reload()
    context = backend_context.Context(
        base_plugin.TBContext(data_provider=MultiplexerDataProvider(multiplexer, str(folder))))
    request = RequestContext()
    contents = context.hparams_metadata(request, "")
    experiment = context.experiment_from_metadata(
        request, "", True, contents, context.hparams_from_data_provider(request, "", None))
    columns = {info.name for info in experiment.hparam_infos}
    assert columns == {"verb", "rate", "bayesian"}, columns
    assert {info.name.tag for info in experiment.metric_infos} >= {"revenue"}, experiment


main(sys.argv[1])
