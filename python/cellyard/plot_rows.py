"""Figures of rows of studies: the public name of `cellyard.plot.rows`."""

from cellyard.plot.rows import (
    READING as READING,
    against as against,
    against_diagonal as against_diagonal,
    by_factor as by_factor,
    compared as compared,
    figures as figures,
    grid as grid,
    is_printed as is_printed,
    legend_above as legend_above,
    legend_beside as legend_beside,
    legend_of_factors as legend_of_factors,
    levels as levels,
    means as means,
    named as named,
    quantity as quantity,
    style as style,
    word as word,
)
from cellyard.plot.table_map import table_map as table_map
