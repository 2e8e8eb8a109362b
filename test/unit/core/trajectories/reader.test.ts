import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TrajectoryFormatError } from '../../../../src/core/trajectories/errors.ts';
import { toJsonLines } from '../../../../src/core/trajectories/export.ts';
import { parseTrajectories } from '../../../../src/core/trajectories/reader.ts';
import { end, header, trajectory, turn } from './make.ts';

const lines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

function problem(text: string): string {
  try {
    parseTrajectories(text, 'a.jsonl');
  } catch (error) {
    if (error instanceof TrajectoryFormatError) return error.message;
    throw error;
  }
  return 'no problem';
}

describe('reading', () => {
  test('what is written as JSON Lines is read back the same, joined records too', () => {
    const first = trajectory();
    const second = trajectory({ header: header({ attemptId: 'a-2' }), end: undefined });
    const text = toJsonLines(first) + toJsonLines(second);
    expect(parseTrajectories(text, 'a.jsonl')).toEqual([first, second]);
  });

  test('a crash at any byte leaves a record that can be read up to its last whole line', () => {
    const whole = Buffer.from(toJsonLines(trajectory({ turns: [turn(0), turn(1)] })));
    const firstBreak = whole.indexOf(0x0a);
    for (let length = firstBreak + 1; length <= whole.length; length++) {
      const [read] = parseTrajectories(whole.subarray(0, length).toString('utf8'), 'a.jsonl');
      const text = whole.subarray(0, length).toString('utf8');
      const complete = text.split('\n').length - 1;
      const parts = 1 + (read?.turns.length ?? 0) + (read?.end ? 1 : 0);
      expect(parts).toBeGreaterThanOrEqual(complete);
      expect(read?.cut).toBe(parts === complete && !text.endsWith('\n'));
    }
  });

  test('an empty file and a cut header hold nothing', () => {
    expect(parseTrajectories('', 'a.jsonl')).toEqual([]);
    expect(parseTrajectories('{"type":"hea', 'a.jsonl')).toEqual([]);
  });
});

describe('errors name file, line and field', () => {
  test('a line that is not JSON in the middle', () => {
    expect(problem(`${lines(header())}{"type":\n${lines(end())}`)).toMatch(
      /^a\.jsonl, line 2: not JSON \(.*\)$/,
    );
  });

  test('a field of the wrong type', () => {
    const wrong = { ...turn(0), policyMs: 'fast' };
    expect(problem(lines(header(), wrong))).toBe(
      'a.jsonl, line 2: policyMs: Invalid input: expected number, received string',
    );
  });

  test('a nested field, and one that is unknown', () => {
    const wrong = header();
    expect(problem(lines({ ...wrong, task: { ...wrong.task, targets: [1] }, extra: 1 }))).toBe(
      'a.jsonl, line 1: task.targets.0: Invalid input: expected string, received number; Unrecognized key: "extra"',
    );
  });

  test('log-probabilities that do not fit the ids', () => {
    const wrong = turn(0);
    const tokens = { promptIds: [1], sampledIds: [2, 3], logprobs: [-1] };
    expect(problem(lines(header(), { ...wrong, reply: { ...wrong.reply, tokens } }))).toBe(
      'a.jsonl, line 2: reply.tokens: sampledIds and logprobs must have the same length',
    );
  });

  test.each([
    [
      'a turn before a header',
      lines(turn(0)),
      'line 1: a line of type turn comes before any header',
    ],
    [
      'a turn after the end',
      lines(header(), end(), turn(0)),
      'line 3: a line of type turn follows the end',
    ],
    ['two ends', lines(header(), end(), end()), 'line 3: a line of type end follows the end'],
    ['a missing turn', lines(header(), turn(1)), 'line 2: index: expected turn 0, found 1'],
    ['an unknown kind of line', lines({ type: 'note' }), 'line 1: type: Invalid'],
    ['a blank line', `${lines(header())}\n${lines(end())}`, 'line 2: not JSON'],
  ])('%s', (_, text, expected) => {
    expect(problem(text)).toContain(`a.jsonl, ${expected}`);
  });
});

describe('versions', () => {
  test('a newer major version is refused with what to do', () => {
    expect(problem(lines({ ...header(), version: '2.0' }))).toBe(
      'a.jsonl, line 1: version: 2.0 was written by a newer Prime Agent; this one reads 1.x. Update Prime Agent to read it.',
    );
  });

  test('an older major version and nonsense are refused', () => {
    expect(problem(lines({ ...header(), version: '0.9' }))).toContain(
      'older than what can be read',
    );
    expect(problem(lines({ ...header(), version: 'new' }))).toContain("'new' is not a version");
  });

  test('a newer minor version is read, its new fields are left out', () => {
    const newer = { ...header({ version: '1.9' }), mood: 'good' };
    const reply = { ...turn(0).reply, speed: 3 };
    const text = lines(newer, { ...turn(0), reply, extra: [] }, end());
    const [read] = parseTrajectories(text, 'a.jsonl');
    expect(read).toEqual(trajectory({ header: header({ version: '1.9' }) }));
  });

  test('a newer minor version with a broken known field is still an error', () => {
    const newer = { ...header({ version: '1.9' }), mood: 'good', seed: -1 };
    expect(problem(lines(newer))).toContain('line 1: seed');
  });
});

test('no text makes the reader fail in another way', () => {
  const fragment = fc.oneof(
    fc.string(),
    fc.constantFrom(...toJsonLines(trajectory()).split(/(?<=\n)/)),
    fc.json(),
    fc.constantFrom('\n', '{"type":"end"}\n', '{"type":"header","version":"1.0"}\n', 'null\n'),
  );
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 8 }), (fragments) => {
      problem(fragments.join(''));
    }),
    { numRuns: 500 },
  );
});
