"""Datasets: decisions of agents as Parquet files in a folder, made to be learned from.

`spec` says what a dataset is made of, `decisions` plays deals and notes every decision, `columns` and `part` write them
down, `store` keeps the parts, `generate` makes a dataset, `card` describes it, `read` reads it, `minari` exports it.
docs/datasets.md is the page. All but `spec` and `decisions` need pyarrow (extra `data`).
"""
