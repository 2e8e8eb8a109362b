/** Keys for `when` clauses of the manifest. */
export const CONTEXT_KEYS = {
  /** A run is going on in some folder. */
  running: 'primeAgent.running',
  /** Paths of files with tests that are known to fail, as keys of an object. */
  failingFiles: 'primeAgent.failingFiles',
} as const;
