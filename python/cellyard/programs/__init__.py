"""Drop policies written as Python functions."""

from cellyard.programs.decorator import Policy as Policy, policy as policy
from cellyard.programs.words import (
    Verdict as Verdict,
    accept as accept,
    push_out_cell as push_out_cell,
    push_out_frame as push_out_frame,
    refuse as refuse,
    refuse_cell as refuse_cell,
    tag as tag,
)
