// Order of search results: headings that have the words of the query, and pages of the guide, come first. Sphinx
// alone takes the best word of a page and then the alphabet, so that a page of reference precedes the guide.

const queryWords = () =>
  (new URLSearchParams(window.location.search).get("q") || "")
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 2);

// Words count by their beginning, so that "violated" finds "violation".
const wordsIn = (title) =>
  queryWords().filter((word) => title.toLowerCase().includes(word.slice(0, 5))).length;

const FIRST = { "guide": 8, "getting-started": 3, "faq": 3, "citing": 3, "coming-from": 2 };

var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) =>
    score
    + (kind === "title" ? 10 : 0)
    + 4 * wordsIn(title)
    + (FIRST[docname.split("/")[0]] || 0),
  // The rest is as in Sphinx.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
