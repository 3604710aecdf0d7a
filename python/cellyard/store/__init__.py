"""Finished runs in one file, known by their content, so that nothing is computed twice.

`Store` keeps and finds them; `cellyard.store.contents` tells what is there, `cellyard.store.upkeep` merges and prunes, and
`cellyard.store.frames` makes tables of it.
"""

from cellyard.store.file import NAME as NAME, Store as Store, open_store as open_store
