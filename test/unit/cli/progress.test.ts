import { describe, expect, it } from 'vitest';
import { createProgress } from '../../../src/cli/render/progress.ts';
import { outcomeOf } from '../../../src/core/agent/outcomes.ts';
import type { FixEvent } from '../../../src/core/fix/events.ts';
import { captured } from './context.ts';

const where = { target: 'a.test.js::adds', attemptId: 'x', number: 1 };
const events: readonly FixEvent[] = [
  { kind: 'progress', text: 'Running the tests with node:test, Node 20.20.2 on PATH' },
  { kind: 'target', target: 'a.test.js::adds \x1b[2J', index: 0, of: 1 },
  {
    kind: 'attempt',
    ...where,
    event: {
      kind: 'call',
      index: 2,
      call: { id: '1', name: 'bash', arguments: { command: `echo\n${'long '.repeat(40)}` } },
    },
  },
  {
    kind: 'attempt-end',
    ...where,
    row: outcomeOf(
      { kind: 'infrastructure', reason: 'the endpoint is gone, '.repeat(6) },
      undefined,
    ),
    turns: 3,
    durationMs: 1_234,
  },
];

function printed(options: Parameters<typeof captured>[0]): string {
  const { context, stderr } = captured(options);
  const { listener, stop } = createProgress(context);
  for (const event of events) listener(event);
  stop();
  return stderr();
}

describe('progress', () => {
  it('is plain lines where nobody looks', () => {
    const text = printed({});
    expect(text).not.toContain('\r');
    expect(text.split('\n')).toContain(
      `  ✗ attempt 1: invalid (3 turns, 1.2 s): ${'the endpoint is gone, '.repeat(6)}`,
    );
  });

  it('never wraps at 80 columns, and never lets a test name drive the terminal', () => {
    const text = printed({ columns: 80, env: { NO_COLOR: '1' } });
    const controls = text.replaceAll('\r\x1b[K', '\n');
    expect(controls).not.toContain('\x1b');
    expect(controls).toContain('\\x1b[2J');
    for (const line of controls.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
    expect(text.endsWith('\r\x1b[K')).toBe(true);
  });

  it('has colours on a terminal only, unless NO_COLOR is set', () => {
    expect(printed({ columns: 80 })).toContain('\x1b[3');
    expect(printed({})).not.toContain('\x1b[3');
    expect(printed({ columns: 80, env: { TERM: 'dumb' } })).not.toContain('\x1b[3');
  });

  it('puts a result below the heading of its own test when several are worked on', () => {
    const { context, stderr } = captured({});
    const { listener } = createProgress(context);
    const solved = outcomeOf({ kind: 'submitted' }, 'passed');
    const end = (target: string) =>
      listener({
        kind: 'attempt-end',
        target,
        attemptId: target,
        number: 1,
        row: solved,
        turns: 1,
        durationMs: 5,
      });
    listener({ kind: 'target', target: 'a', index: 0, of: 2 });
    listener({ kind: 'target', target: 'b', index: 1, of: 2 });
    end('a');
    end('b');
    const solvedLine = '  ✓ attempt 1: solved (1 turn, 0.0 s)';
    expect(
      stderr()
        .split('\n')
        .filter((line) => line !== ''),
    ).toEqual(['[1/2] a', '[2/2] b', '[1/2] a', solvedLine, '[2/2] b', solvedLine]);
  });
});
