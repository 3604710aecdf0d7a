"""What commands say of the runs that they keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellyard.system.terminal import printable

if TYPE_CHECKING:
    from cellyard.store import Store


def write_failure(store: Store | None) -> str:
    """Why runs could not be added to a store outside a folder, in words; empty if nothing failed."""
    if not store or not store.failure:
        return ""
    why = store.failure.strerror or store.failure
    return printable(f"{store.path}: cannot be written: {why}; {kept_runs(store)}")


def interrupted_message(finished: str, store: Store | None) -> str:
    """Message of an interrupted command: what has ``finished``, and what is kept for the next run."""
    kept = kept_runs(store) if store else "nothing is kept without --out or --store"
    if store and store.kept:
        kept += ", and the same command continues from there"
    return printable(f"interrupted: {finished}; {kept}")


def kept_runs(store: Store | None) -> str:
    """How many runs a store keeps, and where, in words."""
    kept = store.kept if store else 0
    place = f" in {store.path}" if store else ""
    return f"{kept} finished run{'s are' if kept != 1 else ' is'} kept{place}"
