import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProgramRequest, SandboxSession } from '../../../../src/core/sandbox/sandbox.ts';
import { createSearchTool } from '../../../../src/core/tools/search/search.ts';
import type { Tool, ToolResult } from '../../../../src/core/tools/tool.ts';
import { callTool, openTestSession, type TestSession } from './session.ts';

/** The same session, in which programs of these names are not found. */
function without(session: SandboxSession, folder: string): Pick<SandboxSession, 'files' | 'run'> {
  return {
    files: session.files,
    run: (request: ProgramRequest, options) =>
      session.run({ ...request, env: { ...request.env, PATH: folder } }, options),
  };
}

describe.each([
  ['none', 'rg'],
  ['local', 'rg'],
  ['local', 'git'],
  ['local', 'grep'],
] as const)('search in sandbox %s with %s', (kind, program) => {
  let test: TestSession;
  let search: Tool;
  const find = (search_term: string, rest: Record<string, unknown> = {}): Promise<ToolResult> =>
    callTool(search, { search_term, ...rest });

  beforeAll(async () => {
    test = await openTestSession(kind);
    await test.put(
      '/workspace/src/b.js',
      'const tax = 1;\n  return "tax" * 2;\n--tax\n$(tax) [a-z]+\n',
    );
    await test.put('/workspace/src/a b.js', 'the tax\r\nTAX\n');
    await test.put('/workspace/.hidden/c.js', 'tax\n');
    await test.put('/workspace/ignored.log', 'tax\n');
    await test.put('/workspace/binary', 'tax\0\n');
    await test.put('/workspace/.gitignore', 'node_modules/\n*.log\n');
    const folder = '/tmp/only';
    const programs = { rg: 'sh rg git grep', git: 'sh git grep', grep: 'sh grep' }[program];
    if (program === 'rg') search = createSearchTool(test.session) as Tool;
    else {
      await test.sh(
        `mkdir -p ${folder} && for p in ${programs}; do ln -s "$(command -v $p)" ${folder}/; done`,
      );
      search = createSearchTool(without(test.session, folder)) as Tool;
    }
  });
  afterAll(() => test.close());

  it('finds a literal text, with path and line, sorted', async () => {
    const { ok, text } = await find('tax', { path: '/workspace/src' });
    expect(ok).toBe(true);
    expect(text.split('\n')).toEqual([
      'src/a b.js:1: the tax',
      'src/b.js:1: const tax = 1;',
      'src/b.js:2:   return "tax" * 2;',
      'src/b.js:3: --tax',
      'src/b.js:4: $(tax) [a-z]+',
    ]);
  });

  it('looks into hidden files, not into binary ones or .git', async () => {
    const { text } = await find('tax');
    expect(text).toContain('.hidden/c.js:1: tax');
    expect(text).not.toContain('binary');
    expect(text).not.toContain('.git/');
    // Plain grep knows no .gitignore: it is the last resort, and the proof that it ran here.
    expect(text.includes('ignored.log')).toBe(program === 'grep');
  });

  it.each([
    ['--tax', 'src/b.js:3: --tax'],
    ['"tax"', 'src/b.js:2:   return "tax" * 2;'],
    ['$(tax) [a-z]+', 'src/b.js:4: $(tax) [a-z]+'],
    ['const tax\n', 'src/b.js:1: const tax = 1;'],
    [
      'x\nconst tax = 1;\n',
      'src/b.js:1: const tax = 1;\n[search works line by line; this is for the line "const tax = 1;"]',
    ],
    ['-v', 'No match for "-v" in /workspace/src.'],
  ])('takes %j as it is', async (term, text) => {
    expect(await find(term, { path: '/workspace/src' })).toEqual({ ok: true, text });
  });

  it('looks into an ignored folder when it is named', async () => {
    const { text } = await find('42', { path: '/workspace/node_modules/dep' });
    // Without a sandbox, dependencies are links to the user's folder.
    expect(text).toBe(
      kind === 'none'
        ? '/workspace/node_modules/dep leads outside /workspace through a symbolic link.'
        : 'node_modules/dep/index.js:1: module.exports = 42;',
    );
  });

  it('takes a file as path, and a pattern on request', async () => {
    const { text } = await find('^\\s+return "t\\w+"', {
      path: '/workspace/src/b.js',
      regex: 'true',
    });
    expect(text).toBe('src/b.js:2:   return "tax" * 2;');
    const bad = await find('(', { regex: true });
    expect(bad.ok).toBe(false);
    expect(bad.text).toMatch(/^The search failed: /);
  });

  it('refuses what it cannot search', async () => {
    expect((await find('')).text).toBe('search_term is empty.');
    expect((await find('a\0b')).text).toContain('NUL');
    expect((await find('x', { path: 'src' })).text).toContain('Maybe you meant /workspace/src?');
    expect((await find('root', { path: '/etc/passwd' })).text).toContain('outside /workspace');
    expect((await find('x', { path: '/workspace/nowhere' })).text).toBe(
      '/workspace/nowhere does not exist.',
    );
  });

  it('bounds matches and width', async () => {
    await test.sh(
      'mkdir -p /workspace/big && cd /workspace/big && yes needle | head -n 100000 > many.txt && ' +
        "head -c 3000000 /dev/zero | tr '\\\\0' x > wide.txt && echo needle >> wide.txt",
    );
    const { text } = await find('needle', { path: '/workspace/big' });
    expect(text.length).toBeLessThan(3_000);
    expect(text).toMatch(/\[… (99,951|at least [\d,]+) more matches in \d files?; narrow the path/);
    expect((await find('needle', { path: '/workspace/big/wide.txt' })).text.length).toBeLessThan(
      400,
    );
    await test.sh('rm -r /workspace/big');
  });
});
