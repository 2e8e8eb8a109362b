/** Views of the manifest. */
export const VIEWS = {
  review: 'primeAgent.reviewView',
  attempts: 'primeAgent.attemptsView',
} as const;
