"""The interface between this package and the compiled engine."""

#: Number of the interface: functions of the engine, their arguments, and the documents that they return. The
#: engine has the same in `crates/python/src/lib.rs`, and calls `check` with it when it is imported.
INTERFACE = 6


def check(engine: int) -> None:
    """Raise a `UsageError` if the compiled engine has another number."""
    if engine != INTERFACE:
        from cellyard.system.errors import UsageError

        raise UsageError("the compiled engine is of another version than this package; run `make build`")
