"""Published studies: tables to simulate, their published values, and claims with verdicts."""

from cellyard.study.rows import PRINTED as PRINTED, Row as Row, Rows as Rows, Value as Value
from cellyard.study.study import (
    FOLDER as FOLDER,
    REPLICATIONS as REPLICATIONS,
    Claim as Claim,
    Study as Study,
    Table as Table,
    claim as claim,
    count as count,
    is_path as is_path,
    load as load,
    select as select,
    studies as studies,
)
from cellyard.study.verdicts import Rule as Rule, Verdict as Verdict, every as every, share as share
