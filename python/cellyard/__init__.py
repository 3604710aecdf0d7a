"""A laboratory for TCP over cell-switched (ATM) networks: a cell-by-cell engine with typed scenarios and results.

A `Scenario` is a network with its traffic. Its `run` returns `Results`. A scenario has these parts:

    Host, Switch, Link, Vc     the network; Queue of a port; Pool of a switch; Change of a link; Contract, Abr, Shape of a VC
    drop, sched                drop policies and schedulers: ``drop.Epd``, ``sched.PerVc``
    policy                     a drop policy from a Python function, which returns ``refuse`` or ``accept``
    police, feedback           policers, and how switches compute ABR rates
    traffic, processing        ``traffic.Tcp``, and processing of packets in hosts and switches
    probe                      recordings over time: ``probe.Queue``
    Measure, Ensemble          the measuring time, and the random draws of each replication

Modules: `examples` has example scenarios, and `networks` makes networks. `experiment` answers a
question with many runs. `study` and `reproduce` have the published studies. `plot` draws (needs
matplotlib), and `cluster` runs on many machines (needs distributed). Everything is imported on
first use, so that ``import cellyard`` is cheap.
"""

from typing import TYPE_CHECKING

from cellyard.public import __dir__ as __dir__, __getattr__ as __getattr__

if TYPE_CHECKING:
    from cellyard.public import *  # noqa: F403

    __version__: str
