/** Views of the manifest. */
export const VIEWS = {
  review: 'primeAgent.reviewView',
} as const;
