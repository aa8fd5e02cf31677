"""The report: result files of any kind as one HTML page that needs nothing else, as Markdown and as merged JSON.

`read` tells the kinds of files apart and refuses what is none, `duels`, `tournament`, `benchmark`, `exploit`,
`training` and `deals` turn them into sections made of the blocks of `model`, `build` puts these together, `html` and
`markdown` write them down.
"""
