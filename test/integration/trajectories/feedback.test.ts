import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/core/redaction/redactor.ts';
import {
  appendFeedback,
  describeFeedback,
  type FeedbackLine,
  feedbackLineSchema,
  feedbackPath,
  readFeedback,
} from '../../../src/core/trajectories/feedback.ts';
import { createTrajectoryStore } from '../../../src/core/trajectories/store.ts';
import { toMarkdown } from '../../../src/core/trajectories/transcript.ts';
import { end, header, turn } from '../../unit/core/trajectories/make.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'prime-feedback-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const redactor = createRedactor({ workspacePath: '/home/mara/shop', userName: 'mara' });
const common = { type: 'feedback', version: 1, at: '2026-01-02T03:04:05.000Z' } as const;
const decided = (
  kind: 'accepted' | 'discarded' | 'undone' | 'edited',
  path: string,
  ...changes: readonly number[]
): FeedbackLine => ({ ...common, kind, files: [{ path, changes: [...changes], of: 3 }] });

async function record(attemptId: string): Promise<string> {
  const store = createTrajectoryStore(root);
  const writer = await store.create({ workspacePath: '/home/mara/shop', attemptId, redactor });
  for (const line of [header({ attemptId }), turn(0), end()]) await writer.append(line);
  await writer.close();
  return writer.path;
}

describe('what became of a patch', () => {
  test('is beside the record, which stays as it is, and in its transcript', async () => {
    const path = await record('a-1');
    const before = await readFile(path, 'utf8');
    await appendFeedback(path, decided('accepted', 'src/a.js', 0, 1), redactor);
    await appendFeedback(path, decided('discarded', 'src/a.js', 2), redactor);
    await appendFeedback(path, { ...common, kind: 'tested', passed: 2, failed: 0 }, redactor);
    await appendFeedback(path, decided('edited', 'src/a.js', 1), redactor);
    expect(await readFile(path, 'utf8')).toBe(before);
    expect((await stat(feedbackPath(path))).mode & 0o777).toBe(0o600);

    const store = createTrajectoryStore(root);
    const found = await store.find('a-1');
    if (found.kind !== 'found') throw new Error('the store does not know its record');
    expect((await store.list()).map(({ attemptId }) => attemptId)).toEqual(['a-1']);
    expect(toMarkdown(await store.read(found.attempt), await readFeedback(path))).toContain(
      '- Review: partly accepted (2 of 3 changes); edited later in src/a.js; tests in the workspace: 2 passed, 0 failed\n',
    );

    await store.remove([found.attempt]);
    expect(await readFeedback(path)).toEqual([]);
  });

  test('names no user, and outlives a line that is cut', async () => {
    const path = await record('a-2');
    await appendFeedback(path, decided('discarded', '/home/mara/shop/a.js', 0), redactor);
    await appendFile(feedbackPath(path), '{"type":"feed');
    const lines = await readFeedback(path);
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain('mara');
  });

  test('says in a word how it ended', () => {
    const say = (...lines: readonly FeedbackLine[]) => describeFeedback(lines);
    expect(say()).toBeUndefined();
    expect(say(decided('accepted', 'a', 0))).toBe('accepted');
    expect(say(decided('discarded', 'a', 0))).toBe('discarded');
    expect(say(decided('accepted', 'a', 0), decided('undone', 'a', 0))).toBe('undecided');
    expect(say(decided('accepted', 'a', 0), decided('discarded', 'b', 0))).toBe(
      'partly accepted (1 of 2 changes)',
    );
    expect(() => feedbackLineSchema.parse({ ...common, kind: 'liked', files: [] })).toThrow();
  });
});
