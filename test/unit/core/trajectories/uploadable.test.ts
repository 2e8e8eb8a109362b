import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../../src/core/redaction/redactor.ts';
import { describeLocalReason, uploadable } from '../../../../src/core/trajectories/uploadable.ts';
import { FORMS } from '../redaction/generate.ts';
import { end, header, trajectory, turn } from './make.ts';

const redactor = createRedactor({});
const planted = (): string => FORMS['classic GitHub token']?.().text ?? '';

describe('what may leave this machine', () => {
  test('a clean, finished record may', async () => {
    expect(await uploadable(trajectory(), redactor)).toEqual([]);
  });

  test('an unfinished one, one marked local, one with a redacted patch may not', async () => {
    expect(await uploadable(trajectory({ end: undefined }), redactor)).toEqual([
      { kind: 'unfinished' },
    ]);
    const marked = end({ localOnly: true, patch: '+x = "[redacted:assignment]"\n' });
    expect(await uploadable(trajectory({ end: marked }), redactor)).toEqual([
      { kind: 'local-only' },
      { kind: 'patch-redacted' },
    ]);
    const flagged = end({ patchRedacted: true });
    expect(await uploadable(trajectory({ end: flagged }), redactor)).toEqual([
      { kind: 'patch-redacted' },
    ]);
  });

  test('a secret is found wherever it is', async () => {
    const call = { id: 'c', name: 'bash', arguments: { deep: [{ [planted()]: 1 }] } };
    const records = {
      header: trajectory({ header: header({ messages: [{ role: 'user', content: planted() }] }) }),
      'turn 0': trajectory({ turns: [turn(0, { reply: { ...turn(0).reply, calls: [call] } })] }),
      end: trajectory({ end: end({ summary: planted() }) }),
    };
    for (const [where, record] of Object.entries(records)) {
      const reasons = await uploadable(record, redactor);
      expect(reasons).toEqual([{ kind: 'secret-found', where }]);
      expect(reasons.map(describeLocalReason)).toEqual([`a secret was found in its ${where}`]);
    }
  });
});
