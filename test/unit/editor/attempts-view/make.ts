import type { ListedAttempt } from '../../../../src/editor/attempts-view/listed.ts';
import { createFakeVs } from '../../../support/fake-vs.ts';

const [folder] = createFakeVs({ folders: ['/srv/shop'] }).vs.workspace.workspaceFolders ?? [];

export function attempt(over: Partial<ListedAttempt> = {}): ListedAttempt {
  if (!folder) throw new Error('no folder');
  return {
    id: 'a-1',
    seriesId: 's-1',
    folder,
    outcome: 'solved',
    reason: 'all target tests pass',
    targets: ['test/cart.test.js::cart > adds tax'],
    policy: 'edit-search',
    turns: 5,
    startedAt: new Date(2026, 2, 9, 14, 3),
    durationMs: 12_000,
    path: '/records/a-1.jsonl',
    ...over,
  };
}
