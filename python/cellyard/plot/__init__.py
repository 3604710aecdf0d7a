"""Figures of series over time and of rows of studies. Nothing is simulated. Needs matplotlib."""

from cellyard.plot.alt import START as START, described as described
from cellyard.plot.axes import (
    MOST_SHIFT as MOST_SHIFT,
    log_axis as log_axis,
    number_axis as number_axis,
    value_axis as value_axis,
    word_axis as word_axis,
)
from cellyard.plot.distribution import distribution as distribution
from cellyard.plot.drawing import (
    COLOURS as COLOURS,
    DASHES as DASHES,
    MARKERS as MARKERS,
    MOST_PANELS as MOST_PANELS,
    STYLES as STYLES,
    Drawing as Drawing,
    Drawn as Drawn,
    can_save as can_save,
    frame as frame,
    groups_of as groups_of,
    legend as legend,
    level as level,
    lines as lines,
    panels as panels,
    panels_grid as panels_grid,
    saved as saved,
    style as style,
)
from cellyard.plot.heat import divide as divide, heat as heat
from cellyard.plot.series import over_time as over_time, quantities as quantities
