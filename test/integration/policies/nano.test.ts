import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measurePinned, pinnedSchema } from '../../../policies/make/pinned.ts';
import { openRuns } from '../../../policies/make/process.ts';
import { currentScaffoldHash } from '../../../src/core/fix/scaffold.ts';
import { createOnnxEngine } from '../../../src/core/policies/onnx/engine.ts';
import { readPolicyFolder } from '../../../src/core/policies/onnx/policy-folder.ts';
import { builtWorker } from '../../support/onnx.ts';
import { tempFolder } from '../../support/temp.ts';

/** The policy that ships. */
const NANO = 'policies/nano';

const workerFile = builtWorker();
test('the policy that ships is whole and was made for this scaffold', async () => {
  const read = await readPolicyFolder(NANO, currentScaffoldHash());
  expect(read.kind === 'refused' ? `${read.reason} ${read.remedy}` : read.kind).toBe('folder');
});

test('it solves as many of the fifty pinned tasks as when it was made', async () => {
  const record: unknown = JSON.parse(await readFile(join(NANO, 'record.json'), 'utf8'));
  const { pinned: made } = pinnedSchema.parse(record);
  const { testRuns } = await openRuns();
  const engine = createOnnxEngine({ workerFile: workerFile() });
  const { pinned: now } = await measurePinned(NANO, 'policies/pinned-tasks.jsonl.gz', {
    budgets: made.budgets,
    testRuns,
    work: await tempFolder(),
    engine,
  }).finally(() => engine.close());
  expect(now.solved.length).toBeGreaterThanOrEqual(made.lowest);
  expect(now.solved.length).toBeLessThanOrEqual(made.highest);
}, 240_000);
