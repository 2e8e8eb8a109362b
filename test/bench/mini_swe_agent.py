"""Turns of mini-swe-agent with a model that answers at once: python mini_swe_agent.py TURNS COMMAND

Prints milliseconds per turn. Same kind of isolation as ours (bubblewrap), its own defaults otherwise.
"""

import os
import sys
import time

os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.extra.bubblewrap import BubblewrapEnvironment
from minisweagent.models.test_models import DeterministicModel, make_output

turns, command = int(sys.argv[1]), sys.argv[2]
outputs = [make_output("x", [{"command": command}], cost=0.0) for _ in range(turns)]
outputs.append(make_output("x", [{"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}], cost=0.0))
agent = DefaultAgent(
    DeterministicModel(outputs=outputs),
    BubblewrapEnvironment(),
    system_template="You fix tests.",
    instance_template="{{task}}",
    cost_limit=0.0,
)
began = time.perf_counter()
agent.run("go")
print((time.perf_counter() - began) * 1000 / (turns + 1))
