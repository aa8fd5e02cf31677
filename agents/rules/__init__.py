"""Rule bots: compiled, deterministic given their key, and fast enough to play inside other kernels."""
