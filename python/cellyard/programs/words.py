"""The words of the language of programs (crates/engine/src/text/program/names.rs)."""

from typing import Final, Literal, TypeAlias

#: What a policy answers. A function that ends without ``return`` accepts.
Verdict: TypeAlias = Literal["accept", "tag", "refuse", "refuse_cell", "push_out_cell", "push_out_frame"]

#: The cell comes in while there is room; at the first cell of a frame, the others too.
accept: Final = "accept"
#: The cell comes in while there is room, with CLP = 1.
tag: Final = "tag"
#: The cell is dropped; at the first cell of a frame, the whole frame.
refuse: Final = "refuse"
#: This cell alone is dropped, and its frame is damaged.
refuse_cell: Final = "refuse_cell"
#: The cell comes in, and the cell at the front of the queue is dropped.
push_out_cell: Final = "push_out_cell"
#: The cell comes in, and all waiting cells of the frame at the front are dropped.
push_out_frame: Final = "push_out_frame"

VERDICTS: tuple[Verdict, ...] = (accept, tag, refuse, refuse_cell, push_out_cell, push_out_frame)

#: Names with their own value.
KNOWN = (
    *("X", "Y", "N", "K", "MCR", "PCR", "SCR", "CDVT", "MBS", "has_contract"),
    *("CLP", "begins", "ends", "lost", "idle", "free", "pool", "reserve", "now", "cell_time", "length", "places"),
)

#: Names that are 0 or 1, or false or true.
BITS = ("CLP", "has_contract", "begins", "ends", "lost")

#: Rates of contracts, which can be summed over the VCs of the queue.
RATES = ("MCR", "PCR", "SCR")

#: Number of arguments of each function.
FUNCTIONS = {"min": 2, "max": 2, "abs": 1, "floor": 1, "float": 1, "power": 2, "sum": 1, "draw": 0}

#: The function that returns a random number. A Python function receives it as an argument.
DRAW = "draw"

#: The owners of state. A Python function receives the state of each as an argument.
OWNERS = ("queue", "vc")

KEYWORDS = ("if", "else", "and", "or", "not", "true", "false", *OWNERS, "state")

RESERVED = frozenset((*VERDICTS, *KNOWN, *FUNCTIONS, *KEYWORDS))

#: Most steps of a program: operators, calls, assignments, conditions and verdicts.
MOST_STEPS = 256
#: Most digits of a number.
MOST_DIGITS = 18
