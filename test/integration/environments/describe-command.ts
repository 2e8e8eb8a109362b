import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { TEST_IMAGE } from '../../support/docker-engine.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import type { Place } from './describe-build.ts';

function collector(): Writable & { text: string } {
  const stream = new Writable({
    write(chunk, _, done) {
      stream.text += String(chunk);
      done();
    },
  }) as Writable & { text: string };
  stream.text = '';
  return stream;
}

/** The command line over the same engine. */
export function describeCommand({ daemon, state }: Place): void {
  const run = async (cwd: string, argv: readonly string[], env: Record<string, string> = {}) => {
    const [stdout, stderr] = [collector(), collector()];
    const program = createProgram({
      ...{ stdout, stderr, cwd },
      env: {
        ...{ PATH: process.env.PATH, HOME: daemon.home, PRIME_AGENT_HOME: state() },
        ...{ ...daemon.variables, ...env },
      },
      signal: new AbortController().signal,
    });
    const code = await program.run(argv);
    return { code, stdout: stdout.text, stderr: stderr.text };
  };
  const project = async (): Promise<string> => {
    const folder = await tempFolder();
    await writeFiles(folder, {
      '.devcontainer.json': JSON.stringify({
        image: TEST_IMAGE,
        remoteUser: 'node',
        postCreateCommand: 'mkdir node_modules && echo x > node_modules/x',
      }),
    });
    return folder;
  };

  describe('prime-agent env', () => {
    test('shows, builds once, lists and removes', async () => {
      const folder = await project();
      const shown = await run(folder, ['env', 'show']);
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect(shown.stdout).toBe(
        `from .devcontainer.json\nbase ${TEST_IMAGE}\nrun  mkdir node_modules && echo x > node_modules/x\nwith all files\nnote .devcontainer.json: remoteUser is left out: commands run as the user of the sandbox, never as one of the image.\n`,
      );
      const build = ['env', 'build', '--setup-network', 'none'];
      const built = await run(folder, build);
      expect(built, built.stderr).toMatchObject({ code: 0 });
      const hash = /^built: (\w{12}), sha256:\w+\nfolders of packages: node_modules\n$/.exec(
        built.stdout,
      )?.[1];
      expect(hash, built.stdout).toBeDefined();
      expect(built.stderr).toContain('Set-up 1 of 1: mkdir node_modules');
      expect((await run(folder, build)).stdout).toContain(`there already: ${hash}`);
      const listed = await run(folder, ['env', 'ls']);
      expect(listed.stdout).toMatch(new RegExp(`^${hash} .* MB .* postCreateCommand$`, 'm'));
      const removed = JSON.parse((await run(folder, ['env', 'gc', '--all', '--json'])).stdout);
      expect(removed.removed.map((one: { hash: string }) => one.hash.slice(0, 12))).toContain(hash);
      expect((await run(folder, ['env', 'ls'])).stdout).not.toContain(hash);
    });

    test('an engine that is not there, and a repository that says nothing, are said', async () => {
      const folder = await project();
      const nowhere = { DOCKER_HOST: `unix://${folder}/none.sock` };
      expect(await run(folder, ['env', 'build'], nowhere)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('No container engine answers at'),
      });
      const empty = await tempFolder();
      await writeFiles(empty, { 'a.txt': '' });
      expect(await run(empty, ['env', 'show'])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('Nothing in the repository says what its tests need'),
      });
    });
  });
}
