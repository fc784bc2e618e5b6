"""Prints what TensorBoard itself reads in an event folder, as JSON:
{tag: [[step, value], …]}. Usage: read_events.py DIR"""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

reader = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
reader.Reload()
print(json.dumps({tag: [[e.step, e.value] for e in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}))
