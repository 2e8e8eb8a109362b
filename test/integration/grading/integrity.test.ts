import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { changedFiles, fileStates } from '../../../src/core/grading/integrity.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import type { SandboxSession } from '../../../src/core/sandbox/sandbox.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

async function session(): Promise<SandboxSession> {
  const folder = await tempFolder();
  const tree = join(folder, 'tree');
  await writeFiles(tree, { 'a.test.js': 'a', 'ü b/c.test.js': 'c' });
  const opened = await createNoneSandbox({ stateDir: join(folder, 'state') }).open({
    base: { id: 'a', tree, workspacePath: tree, dependencies: [] },
    toolchain: { path: [join(tree, 'bin')], mounts: [], env: {} },
    toolbox: {},
    limits: { processes: 64, fileBytes: 2 ** 20 },
  });
  onTestFinished(() => opened.close());
  return opened;
}

/** The same session in a system that has not all programs. */
function without(inner: SandboxSession, missing: readonly string[]): Pick<SandboxSession, 'run'> {
  return {
    run: (request, options) => {
      const [program = '', ...args] = request.argv;
      const argv = [missing.includes(program) ? '/none/there' : program, ...args];
      return inner.run({ ...request, argv }, options);
    },
  };
}

const FILES = ['a.test.js', 'ü b/c.test.js', 'gone.js', ''];
const EXEC = { timeoutMs: 10_000, maxOutputBytes: 1_000 };
const REWRITTEN = 'echo b >a.test.js';
const RESTORED =
  'cp -p a.test.js /tmp/kept-$$ && echo b >a.test.js && cp -p /tmp/kept-$$ a.test.js; rm /tmp/kept-$$';

describe('test files are compared before and after a run', () => {
  test.each([
    ['rewritten', REWRITTEN, []],
    ['rewritten and put back', RESTORED, []],
    ['rewritten, without sha256sum', REWRITTEN, ['sha256sum']],
    ['rewritten and put back, without sha256sum', RESTORED, ['sha256sum']],
    ['rewritten, without stat', REWRITTEN, ['stat']],
    ['rewritten, without both', REWRITTEN, ['sha256sum', 'stat']],
  ])('%s', async (_, command, missing) => {
    const inner = await session();
    const seen = without(inner, missing);
    const before = await fileStates(seen, FILES);
    expect([...before.keys()].length).toBe(2);
    expect(changedFiles(before, await fileStates(seen, FILES))).toEqual([]);
    await inner.shell('touch other', EXEC);
    expect(changedFiles(before, await fileStates(seen, FILES))).toEqual([]);
    await inner.shell(command, EXEC);
    expect(changedFiles(before, await fileStates(seen, FILES))).toEqual(['a.test.js']);
  });

  test('with programs of the system, not with those that code under test puts on PATH', async () => {
    const inner = await session();
    const lying = ['sha256sum', 'stat', 'cksum'].map((name) => `cp "$(type -P true)" bin/${name}`);
    await inner.shell('mkdir bin', EXEC);
    const before = await fileStates(inner, FILES);
    await inner.shell(`${lying.join(' && ')} && ${REWRITTEN}`, EXEC);
    const found = await inner.run({ argv: ['bash', '-c', 'type -P stat'] }, EXEC);
    expect(Buffer.from(found.output.head).toString()).toBe('/workspace/bin/stat\n');
    expect(changedFiles(before, await fileStates(inner, FILES))).toEqual(['a.test.js']);
  });

  test('where nothing can compare them, the sandbox is unfit', async () => {
    const seen = without(await session(), ['sha256sum', 'stat', 'cksum']);
    await expect(fileStates(seen, FILES)).rejects.toThrow('cannot be compared');
  });
});
