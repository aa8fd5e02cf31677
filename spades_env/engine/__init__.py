"""The only place that knows a rule of the game.

Every function here works on NumPy records (see ``state.py``) and compiles with Numba; without JIT
(``NUMBA_DISABLE_JIT=1``) the same functions run as plain Python.
"""
