import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBashTool } from '../../../../src/core/tools/bash/bash.ts';
import type { Tool } from '../../../../src/core/tools/tool.ts';
import { callTool, openTestSession, type TestSession } from './session.ts';

describe.each(['none', 'local'] as const)('bash in sandbox %s', (kind) => {
  let test: TestSession;
  let bash: Tool;
  const run = async (command: string, rest: Record<string, unknown> = {}): Promise<string> =>
    (await callTool(bash, { command, ...rest })).text;

  beforeAll(async () => {
    test = await openTestSession(kind);
    bash = createBashTool(test.session) as Tool;
  });
  afterAll(() => test.close());

  it('shows output and exit code', async () => {
    expect(await callTool(bash, { command: 'echo a; echo b >&2; exit 3' })).toEqual({
      ok: false,
      text: 'a\nb\n[exit code 3]',
      detail: { exitCode: 3 },
    });
    expect(await run('true')).toBe('(no output)');
  });

  it('keeps directory and exports, until a restart', async () => {
    await run('cd src && export GREETING="hi  there"');
    expect(await run('pwd; echo "$GREETING"')).toBe('/workspace/src\nhi  there');
    expect((await callTool(bash, { restart: true })).text).toBe('The shell was restarted.');
    expect(await run('pwd; echo "<$GREETING>"')).toBe('/workspace\n<>');
    expect(await run('echo again', { restart: true })).toBe('The shell was restarted.\nagain');
  });

  it('cleans what only a terminal understands', async () => {
    expect(await run(`printf ' 10%%\\r100%%\\n\\033[1;31mred\\033[0m \\377 |\\b/\\bx\\n'`)).toBe(
      '100%\nred \ufffd x',
    );
  });

  it('cuts gigantic output, keeps both ends and counts', async () => {
    const text = await run('echo first; yes 0123456789 | head -c 300000000; echo; echo last');
    expect(text.length).toBeLessThan(16_100);
    expect(text.startsWith('first\n0123456789\n')).toBe(true);
    expect(text.endsWith('\nlast')).toBe(true);
    const left = Number(/\[… ([\d,]+) bytes left out …\]/.exec(text)?.[1]?.replaceAll(',', ''));
    expect(Math.abs(left + text.length - 300_000_012)).toBeLessThan(100);
  });

  it('ends a command at its timeout, given as a text too, and keeps what it printed', async () => {
    const result = await callTool(bash, { command: 'echo before; sleep 60', timeout: '1' });
    expect(result).toEqual({
      ok: false,
      text: 'before\n[timed out after 1 s; its processes were ended]',
      detail: { timedOut: true },
    });
    expect(await run('echo fine')).toBe('fine');
  });

  it('hands out live output without escape sequences', async () => {
    let live = '';
    const args = { command: `printf '\\033[31mred\\033[0m\\n'` };
    await callTool(bash, args, (text) => {
      live += text;
    });
    expect(live).toBe('red\n');
  });

  it('stays healthy after broken, strange and very long commands', async () => {
    for (const command of [
      "echo 'unfinished",
      'cat <<E\nx',
      'exit 7',
      'set -e; false',
      'fi',
      ')',
      '',
    ]) {
      await run(command);
    }
    expect((await callTool(bash, { command: 'a\0b' })).text).toContain('NUL character');
    expect(await run(`: ${'x'.repeat(1_000_000)}\necho long`)).toBe('long');
    expect(await run('echo "[exit code 1]"')).toBe('[exit code 1]');
  });
});
