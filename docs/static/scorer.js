// How search results are ranked. The glossary names nearly every term, with a score of up to 100: it comes last.
var Scorer = {
  score: ([page, , , , score]) => (page === 'glossary' ? score - 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
