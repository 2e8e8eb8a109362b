import { describe, expect, it } from 'vitest';
import type { AttemptEvent } from '../../../src/core/agent/events.ts';
import { createLiveView } from '../../../src/editor/live/live-view.ts';
import { renderEvent } from '../../../src/editor/live/render-event.ts';
import { createTranscriptBuffer } from '../../../src/editor/live/transcript-buffer.ts';
import type { AttemptStarted } from '../../../src/editor/ports.ts';
import { createFakeVs } from '../../support/fake-vs.ts';

const call = (name: string, given: Record<string, unknown>): AttemptEvent => ({
  kind: 'call',
  index: 0,
  call: { id: '1', name, arguments: given },
});
/** Without colours. */
const plain = (event: AttemptEvent): string => {
  const text = renderEvent(event);
  return text.replace(new RegExp(`${String.fromCharCode(27)}\\[\\d*m`, 'g'), '');
};

describe('an event in the terminal', () => {
  it('shows commands, edits and other calls in a form of their own', () => {
    expect(plain(call('bash', { command: 'ls\npwd' }))).toBe('\r\n$ ls\r\npwd\r\n');
    expect(
      plain(
        call('str_replace_editor', {
          command: 'str_replace',
          path: '/workspace/a.js',
          old_str: 'a - b\n',
          new_str: 'a + b\nc',
        }),
      ),
    ).toBe('\r\nstr_replace /workspace/a.js\r\n- a - b\r\n+ a + b\r\n+ c\r\n');
    expect(plain(call('run_tests', {}))).toBe('\r\nrun_tests\r\n');
  });

  it('lets nothing that a program wrote move the cursor or name a link', () => {
    const text = renderEvent({ kind: 'output', index: 0, text: 'a\x1b[2J\x1b]8;;http://x\x07b\n' });
    expect(text).toBe('a\\x1b[2J\\x1b]8;;http://x\\x07b\r\n');
  });

  it("does not repeat a command's output", () => {
    const { call: bash } = call('bash', {}) as Extract<AttemptEvent, { kind: 'call' }>;
    expect(plain({ kind: 'observation', index: 0, call: bash, ok: true, text: 'out' })).toBe('');
  });
});

describe('the text of an attempt', () => {
  it('stays within its bounds: the oldest goes, and that is said', () => {
    const buffer = createTranscriptBuffer(10);
    for (const word of ['one', 'two', 'three', 'four']) buffer.append(word);
    expect(buffer.text()).toBe('[…]\r\nthreefour');
    expect(buffer.text().length).toBeLessThan(20);
  });
});

function setUp() {
  const fake = createFakeVs({ folders: ['/w'] });
  const live = createLiveView(fake.vs);
  const start = (attemptId: string): void => {
    const folder = fake.vs.workspace.workspaceFolders?.[0];
    const attempt = { attemptId, folder, number: 1, policy: 'edit-search' };
    live.started({
      ...attempt,
      targets: ['a.test.js::cart > adds'],
      trajectoryPath: '/t.jsonl',
      startedAt: new Date(0),
    } as AttemptStarted);
  };
  const end = (attemptId: string): void =>
    live.ended({ attemptId, outcome: 'solved', reason: '', turns: 1, durationMs: 1 });
  return { fake, live, start, end };
}

describe('watching', () => {
  it('shows what was before and what comes, without taking the focus', async () => {
    const { fake, live, start, end } = setUp();
    start('one');
    live.turn('one', call('bash', { command: 'ls' }));
    expect(fake.terminals).toEqual([]);
    await live.watch();
    const [terminal] = fake.terminals;
    expect(terminal?.name).toBe('Attempt 1: adds');
    expect(terminal?.shown).toEqual([{ preserveFocus: true }]);
    expect(terminal?.text).toContain('$ ls');
    live.turn('one', { kind: 'output', index: 0, text: 'src\n' });
    end('one');
    expect(terminal?.text).toMatch(/src\r\n\r\nSolved\.\r\n$/);
    await live.watch('one');
    expect(fake.terminals).toHaveLength(1);
  });

  it('asks which one where several go on, and says so where there is none', async () => {
    const { fake, live, start } = setUp();
    await live.watch();
    expect(fake.messages).toMatchObject([{ text: expect.stringContaining('no attempt to watch') }]);
    start('one');
    start('two');
    fake.user.pick = (items) => items.slice(0, 1);
    await live.watch();
    expect(fake.terminals).toHaveLength(1);
  });

  it('forgets old attempts', async () => {
    const { fake, live, start, end } = setUp();
    for (let index = 0; index < 30; index += 1) {
      start(`${index}`);
      end(`${index}`);
    }
    let offered = 0;
    fake.user.pick = (items) => {
      offered = items.length;
      return undefined;
    };
    await live.watch();
    expect(offered).toBeLessThanOrEqual(21);
  });
});
