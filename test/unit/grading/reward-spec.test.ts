import { describe, expect, test } from 'vitest';
import { rewardTestId } from '../../../src/core/grading/reward/framework.ts';
import { readRewardSpec } from '../../../src/core/grading/reward/spec.ts';

const read = (value: unknown) => readRewardSpec(JSON.stringify(value), 'reward.json');

describe('reading a reward', () => {
  test('defaults are filled in', () => {
    expect(read({ kind: 'command', command: ' make check ' })).toEqual({
      kind: 'spec',
      spec: { kind: 'command', command: 'make check', files: [], timeoutSeconds: 300 },
    });
  });

  test.each([
    ['{', /^reward\.json is not JSON: /],
    ['{"kind":"magic"}', /^reward\.json is not a reward at “kind”: /],
    ['{"kind":"command","command":""}', /at “command”/],
    ['{"kind":"command","command":"x","retries":3}', /Unrecognized key: "retries"/],
    ['{"kind":"module","path":"/etc/reward.mjs"}', /at “path”: must be a path inside/],
    ['{"kind":"module","path":"a/../../reward.mjs"}', /at “path”: must be a path inside/],
    ['{"kind":"module","path":"reward.py"}', /must end with \.mjs or \.js/],
    ['{"kind":"module","path":"r.mjs","timeoutSeconds":0}', /at “timeoutSeconds”/],
  ])('%s is refused with what to do', (text, reason) => {
    expect(readRewardSpec(text, 'reward.json')).toMatchObject({
      kind: 'problem',
      reason: expect.stringMatching(reason),
      remedy: expect.stringContaining('docs/custom-rewards.md'),
    });
  });

  test('the name of a reward changes with what decides, not with its time limit', () => {
    const id = (value: object, module?: string): string => {
      const found = read(value);
      if (found.kind !== 'spec') throw new Error(found.reason);
      return rewardTestId(found.spec, module);
    };
    const base = { kind: 'module', path: 'r.mjs' };
    expect(id(base, 'a')).toBe(id({ ...base, timeoutSeconds: 5 }, 'a'));
    expect(id(base, 'a')).not.toBe(id(base, 'b'));
    expect(id(base, 'a')).not.toBe(id({ ...base, files: ['x'] }, 'a'));
  });
});
