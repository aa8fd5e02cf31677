"""The strength table: a list of duels in a YAML file, played one after another, kept, and shown as one page.

`config` reads the duels, `play` plays one, `store` keeps what is finished, `page` makes the table.
"""
