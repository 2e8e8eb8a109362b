import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import type { SandboxSpec } from '../../../src/core/sandbox/sandbox.ts';
import { TEST_IMAGE, type TestEngine } from '../../support/docker-engine.ts';
import { createFixture, type Fixture } from './fixture.ts';

/** Kind, mode, name, target and content of everything below a folder, as bytes. */
const LISTING = `cd -- "$1" && find . -mindepth 1 -path ./.git -prune -o -mindepth 1 \\( -type d -printf '%y %m %P\\0' -o -printf '%y %m %n %P -> %l\\0' \\) | LC_ALL=C sort -z
find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | wc -c`;

const NAMES = [
  'with space',
  'quote\'"s',
  'new\nline',
  '-dash',
  '$HOME',
  'back\\slash',
  'é\u{1f600}',
  'trailing ',
  `long-${'x'.repeat(200)}`,
  `${'deep/'.repeat(60)}file`,
];

/** The snapshot goes over whole: modes, links, names of any bytes. */
export function describeTransfer(engine: TestEngine): void {
  describe('transfer of the snapshot', () => {
    let fixture: Fixture;
    let spec: SandboxSpec;
    let expected: string;
    const list = (folder: string): string =>
      execFileSync('bash', ['-c', LISTING, 'list', folder], { encoding: 'latin1' });
    const inside = async (
      argv: readonly string[],
      dependencies: 'auto' | 'copy',
    ): Promise<string> => {
      const { variables, home } = engine;
      const provider = createDockerSandbox({ image: TEST_IMAGE, variables, home, dependencies });
      const session = await provider.open(spec);
      try {
        const limits = { timeoutMs: 30_000, maxOutputBytes: 1 << 20 };
        const { output } = await session.run({ argv }, limits);
        return Buffer.from(output.head).toString('latin1');
      } finally {
        await session.close();
      }
    };

    beforeAll(() => {
      fixture = createFixture();
      const { tree, workspacePath } = fixture.spec.base;
      for (const name of NAMES) {
        mkdirSync(join(tree, 'odd', name, '..'), { recursive: true });
        writeFileSync(join(tree, 'odd', name), `content of ${name}`);
      }
      const bytes = Buffer.concat([
        Buffer.from(`${tree}/odd/`),
        Buffer.from([0xff, 0xfe, 0x0a, 0x41]),
      ]);
      writeFileSync(bytes, 'no UTF-8');
      mkdirSync(join(tree, 'modes'));
      for (const mode of [0o755, 0o640, 0o444, 0o600, 0o777, 0o4755]) {
        const file = join(tree, 'modes', mode.toString(8));
        writeFileSync(file, mode.toString(8));
        chmodSync(file, mode);
      }
      mkdirSync(join(tree, 'empty'), { mode: 0o700 });
      linkSync(join(tree, 'modes/755'), join(tree, 'modes/second-name'));
      symlinkSync('modes/755', join(tree, 'relative'));
      symlinkSync(join(workspacePath, 'a.txt'), join(tree, 'absolute'));
      symlinkSync('nowhere', join(tree, 'dangling'));
      symlinkSync('odd', join(tree, 'to-folder'));
      symlinkSync('x'.repeat(150), join(tree, 'long-target'));
      spec = { ...fixture.spec, base: { ...fixture.spec.base, dependencies: [] } };
      expected = list(tree);
    });
    afterAll(() => fixture.remove());

    test('modes, links, hard links and odd names are the same inside, at both places', async () => {
      expect(expected).toContain('\xff\xfe\nA');
      const { workspacePath } = spec.base;
      const script = `${LISTING}; cat absolute; git status --short; [[ $1 -ef ${workspacePath} ]]; echo same $?`;
      expect(await inside(['bash', '-c', script, 'list', '/workspace'], 'auto')).toBe(
        `${expected}a\n${gitStatus(spec.base.tree)}same 0\n`,
      );
    });

    test('everything belongs to the user inside', async () => {
      const found = 'find . ! -user user -o ! -group user; touch new modes/new && echo writable';
      expect(await inside(['bash', '-c', found], 'auto')).toBe('writable\n');
    });

    test.each(['auto', 'copy'] as const)('dependencies: %s', async (dependencies) => {
      const folder = join(fixture.root, 'deps');
      // A daemon of another user must get there as well.
      chmodSync(fixture.root, 0o711);
      mkdirSync(join(folder, 'one'), { recursive: true });
      writeFileSync(join(folder, 'one/index.js'), 'exports.one = 1;\n');
      symlinkSync('one', join(folder, `link-${dependencies}`));
      const before = spec;
      spec = {
        ...spec,
        base: {
          ...spec.base,
          dependencies: [
            { path: 'packages/a/node_modules', hostPath: folder },
            { path: 'gone', hostPath: join(fixture.root, 'gone') },
          ],
        },
      };
      try {
        const script = `cat packages/a/node_modules/link-${dependencies}/index.js; touch packages/a/node_modules/x 2>/dev/null; echo $?; stat -c %U packages; ls -d gone 2>&1`;
        expect(await inside(['bash', '-c', script], dependencies)).toBe(
          // Mounted read-only where the engine sees our files; a writable copy where it does not.
          dependencies === 'auto'
            ? "exports.one = 1;\n1\nroot\nls: cannot access 'gone': No such file or directory\n"
            : "exports.one = 1;\n0\nuser\nls: cannot access 'gone': No such file or directory\n",
        );
      } finally {
        spec = before;
      }
    });

    test('a folder that the daemon may not look into is sent', async () => {
      const folder = join(fixture.root, 'closed/deps');
      mkdirSync(folder, { recursive: true });
      chmodSync(join(fixture.root, 'closed'), 0o700);
      writeFileSync(join(folder, 'index.js'), 'exports.two = 2;\n');
      const before = spec;
      const dependencies = [{ path: 'node_modules', hostPath: folder }];
      spec = { ...spec, base: { ...spec.base, dependencies } };
      try {
        const script = 'cat node_modules/index.js; touch node_modules/x 2>/dev/null; echo $?';
        expect(await inside(['bash', '-c', script], 'auto')).toBe(
          `exports.two = 2;\n${engine.kind === 'rootless' ? 0 : 1}\n`,
        );
      } finally {
        spec = before;
      }
    });
  });
}

function gitStatus(folder: string): string {
  return execFileSync('git', ['-C', folder, 'status', '--short'], { encoding: 'latin1' });
}
