/** Keys for `when` clauses of the manifest. */
export const CONTEXT_KEYS = {
  /** A run is going on in some folder. */
  running: 'primeAgent.running',
  /** Paths of files with tests that are known to fail, as keys of an object. */
  failingFiles: 'primeAgent.failingFiles',
  /** A proposed change is open for review. */
  reviewing: 'primeAgent.reviewing',
  /** The tab in front is a review's. */
  reviewActive: 'primeAgent.reviewActive',
  /** How attempts are grouped in their view: `day` or `fix`. */
  attemptsGrouping: 'primeAgent.attemptsGrouping',
} as const;
