"""The benchmark suite: tasks with frozen seeds and positions that take an agent apart, one skill at a time.

`tasks` lists them, `task` is what one is and runs it, `data` has frozen positions with their exact values (written by
`make`), `store` keeps results, `page` shows them.
"""
