import type * as vscode from 'vscode';

/** Of the workspace's state. */
export const KEPT_REVIEWS = 'primeAgent.reviews';

/** Has a window that was closed or reloaded left a review? Here, apart, so that asking loads nothing. */
export function hasKeptReviews(memento: vscode.Memento): boolean {
  return memento.get(KEPT_REVIEWS) !== undefined;
}
