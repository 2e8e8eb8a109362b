import { describe, expect, it } from 'vitest';
import { createRuns } from '../../../src/editor/fix/runs.ts';
import { createStatusBar } from '../../../src/editor/status/status-bar.ts';
import { createFakeVs } from '../../support/fake-vs.ts';

function setUp() {
  const fake = createFakeVs({ folders: ['/a/one', '/a/two'] });
  const [one, two] = fake.vs.workspace.workspaceFolders ?? [];
  if (!one || !two) throw new Error('unreachable');
  return { fake, one, two, runs: createRuns(fake.vs) };
}

const untilAborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')));

describe('runs', () => {
  it('are one per folder; another folder does not wait', async () => {
    const { runs, one, two } = setUp();
    const first = runs.start(one, ({ signal }) => untilAborted(signal));
    expect(await runs.start(one, async () => 'never')).toEqual({ kind: 'busy' });
    expect(await runs.start(two, async () => 'done')).toEqual({ kind: 'done', value: 'done' });
    runs.cancel(two);
    expect(runs.active()).toHaveLength(1);
    runs.cancel(one);
    expect(await first).toEqual({ kind: 'done', value: 'stopped' });
    expect(runs.active()).toEqual([]);
  });

  it('free their folder also when they break', async () => {
    const { runs, one } = setUp();
    await expect(runs.start(one, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(await runs.start(one, async () => 1)).toEqual({ kind: 'done', value: 1 });
  });

  it('have ended when stopping resolves', async () => {
    const { runs, one } = setUp();
    let cleaned = false;
    const running = runs.start(one, async ({ signal }) => {
      await untilAborted(signal);
      await new Promise((resolve) => setTimeout(resolve, 10));
      cleaned = true;
    });
    await runs.stop();
    expect(cleaned).toBe(true);
    await running;
  });
});

describe('the status bar item', () => {
  it('shows the policy and what goes on, and sets the key for menus', async () => {
    const { fake, runs, one } = setUp();
    createStatusBar(fake.vs, runs);
    expect(fake.statusBar).toMatchObject({
      text: '$(wand) edit-search',
      command: 'primeAgent.showMenu',
    });
    const running = runs.start(one, ({ signal, say }) => {
      say('Fixing a test: turn 2');
      return untilAborted(signal);
    });
    expect(fake.statusBar.text).toBe('$(sync~spin) edit-search');
    expect(fake.statusBar.tooltip).toContain('one: Fixing a test: turn 2');
    expect(fake.contexts.get('primeAgent.running')).toBe(true);
    await runs.stop();
    await running;
    expect(fake.statusBar.text).toBe('$(wand) edit-search');
    expect(fake.contexts.get('primeAgent.running')).toBe(false);
  });

  it('follows the choice of another policy', async () => {
    const { fake, runs } = setUp();
    createStatusBar(fake.vs, runs);
    const settings = fake.vs.workspace.getConfiguration('primeAgent');
    await settings.update('endpoint.baseUrl', 'http://127.0.0.1:11434/v1');
    await settings.update('endpoint.model', 'qwen');
    await settings.update('policy', 'endpoint');
    expect(fake.statusBar.text).toBe('$(wand) qwen at 127.0.0.1:11434');
  });
});
