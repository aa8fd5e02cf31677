"""Speed of the environment beside its peers: what `spades bench` runs.

timing.py measures, ours.py, aec.py and peers.py hold what is measured, fresh.py starts new processes,
report.py puts it all together. Imports spades_env, agents and evaluation.
"""

__spades_env__ = True
