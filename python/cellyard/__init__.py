"""A laboratory for TCP over cell-switched (ATM) networks: a cell-by-cell engine with typed scenarios and results.

A `Scenario` is a network with its traffic; its `run` gives `Results`. What it is made of:

    Host, Switch, Link, Vc     the network; Queue of a port, Contract and Abr of a VC
    drop, sched                drop policies and schedulers: ``drop.Epd``, ``sched.PerVc``
    police, feedback           policers, and how switches compute ABR rates
    traffic, processing        ``traffic.Tcp``, and what packets meet in hosts and switches
    probe                      what is recorded over time: ``probe.Queue``
    Measure, Ensemble          what is measured, and what each replication draws

Modules: `ready` has ready scenarios, `networks` makes networks, `experiment` asks one question of many runs, `study` and
`reproduce` have the published studies, `plot` draws (extra ``plot``), `cluster` runs on many machines (extra ``dask``).
Everything is imported when it is first used, so that ``import cellyard`` costs nothing.
"""

from typing import TYPE_CHECKING

from cellyard.public import __dir__ as __dir__, __getattr__ as __getattr__

if TYPE_CHECKING:
    from cellyard.public import *  # noqa: F403

    __version__: str
