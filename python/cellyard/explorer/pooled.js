// Completion times of the files of several runs, pooled as `cellyard.results.transfers` and `cellyard.statistics.pooled`
// do, with which a test compares them.

/** Fewest runs with files for an interval. */
export const FEWEST = 6;

/** The 97.5 % quantiles of Student's law with 5 to 19 degrees of freedom. */
const STUDENT = [
  2.570581835636313, 2.446911851144966, 2.364624251592783, 2.306004135204166, 2.2621571627982036, 2.228138851986274,
  2.200985160091639, 2.1788128296672262, 2.16036865646279, 2.1447866879178026, 2.131449545559774, 2.119905299221254,
  2.1098155778333165, 2.100922040241036, 2.0930240544083105,
];

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** The least and the greatest possible duration of each file of a run, in both directions. */
export function durations({ vcs }) {
  return vcs
    .flatMap((vc) => [vc, ...vc.back])
    .flatMap(({ transfers, unfinished_transfers: unfinished, under_way_s: underWay }) => [
      ...transfers.map(({ duration_s }) => [duration_s, duration_s]),
      ...Array.from({ length: unfinished }, (_, place) => [place ? 0 : (underWay ?? 0), Infinity]),
    ]);
}

/**
 * The least duration that `share` of the files of all runs do not exceed, `value`, and the ends of its 95 % interval, `low`
 * and `high`: each the least and the greatest possible one, and null above the longest duration. Null without files.
 */
export function quantile(runs, share) {
  const groups = runs.filter((files) => files.length);
  const files = groups.flat();
  if (!files.length) return null;
  const sorted = [0, 1].map((end) => files.map((file) => file[end]).sort((a, b) => a - b));
  const at = (of) => {
    const rank = Math.max(1, Math.ceil(Number((of * files.length).toFixed(9))));
    return rank > files.length ? null : sorted.map((ends) => ends[rank - 1]);
  };
  const value = at(share);
  if (groups.length < FEWEST) return { value };
  const apart = groups.map((group) => group.filter(([least]) => least <= value[0]).length - share * group.length);
  const mean = sum(apart) / groups.length;
  const clustered = Math.sqrt((groups.length / (groups.length - 1)) * sum(apart.map((one) => (one - mean) ** 2))) / files.length;
  const half = STUDENT[groups.length - FEWEST] * Math.max(clustered, Math.sqrt((share * (1 - share)) / files.length));
  return { value, low: at(share - half), high: at(share + half) };
}
