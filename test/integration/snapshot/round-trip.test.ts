import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeApply } from '../../../src/core/snapshot/apply-compute.ts';
import type { Blob } from '../../../src/core/snapshot/blob-repository.ts';
import type { FileChange } from '../../../src/core/snapshot/changes.ts';
import { diffAgainstBase } from '../../../src/core/snapshot/diff.ts';
import { parsePatch } from '../../../src/core/snapshot/patch-format.ts';
import { repository, snapshot } from './fixtures.ts';

const line = fc.oneof(
  fc.constantFrom(
    '',
    'same',
    'diff --git a/x b/x',
    '--- a/x',
    '@@ -1 +1 @@',
    '\\ No newline at end of file',
    '-- ',
    'trailing  ',
    '\tx',
    '\ufeffbom',
  ),
  fc.string({ unit: 'binary' }),
);
const text = fc
  .tuple(
    fc.array(line, { maxLength: 12 }),
    fc.constantFrom('\n', '\r\n', '\r', '\u2028'),
    fc.boolean(),
  )
  .map(([lines, end, last]) => Buffer.from(lines.join(end) + (last ? end : '')));
const content = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc.string().map((start) => Buffer.from(`${start}${'long line '.repeat(2000)}\0`)),
  },
);

/** Many files at once, since each patch takes several runs of git. */
test('any content comes through a patch byte for byte', async () => {
  const contents = fc.sample(fc.tuple(content, content, fc.boolean(), fc.boolean()), {
    numRuns: 400,
    seed: 7,
  });
  const files = contents.map(([before, after, wasThere, stays], at) => ({
    path: `folder${at % 7}/file${at}`,
    before: wasThere ? before : undefined,
    after: stays || !wasThere ? after : undefined,
  }));
  const present = files.filter((file) => file.before !== undefined);
  const base = await snapshot(
    repository(Object.fromEntries(present.map(({ path, before }) => [path, before ?? '']))),
  );
  const blob = (bytes: Buffer | undefined): Blob | undefined =>
    bytes && { mode: '100644', content: bytes };
  const changes = new Map<string, FileChange>();
  for (const { path, before, after } of files) {
    if (before && after?.equals(before)) continue;
    changes.set(path, { before: blob(before), after: blob(after) });
  }
  const { patch, skipped } = await diffAgainstBase(base, changes, undefined);
  expect(skipped).toEqual([]);
  // As it is stored and sent.
  const stored = JSON.parse(JSON.stringify(Buffer.from(patch).toString())) as string;
  expect(stored).toBe(patch);
  expect(
    parsePatch(patch)
      .map((part) => part.path)
      .sort(),
  ).toEqual([...changes.keys()].sort());

  const current = new Map<string, Blob>();
  for (const [path, { before }] of changes) if (before) current.set(path, before);
  const computed = await computeApply(stored, current, { exact: true, signal: undefined });
  if (computed.kind !== 'computed') throw new Error(computed.reason);
  expect([...computed.changes.keys()].sort()).toEqual([...changes.keys()].sort());
  for (const [path, { after }] of changes) {
    expect(computed.changes.get(path)?.content.toString('latin1'), path).toBe(
      after?.content.toString('latin1'),
    );
  }
});
