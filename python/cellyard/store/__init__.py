"""The store: finished runs in one file, found by content, so that nothing is computed twice.

`Store` keeps and finds runs. `cellyard.store.contents` lists them, `cellyard.store.upkeep` merges
and prunes, and `cellyard.store.frames` makes tables.
"""

from cellyard.store.file import FILE_NAME as FILE_NAME, Store as Store, open_store as open_store
