import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ESCAPE_ATTEMPTS } from './escape-attempts.ts';
import type { EscapeResults } from './escape-program.ts';

const TABLE = /<!-- escapes:start -->\n([\s\S]*)<!-- escapes:end -->/;
const root = process.getuid?.() === 0;
/** Somebody else than root; when the tests themselves run as an ordinary user, that one. */
const ORDINARY = 65534;

let folder: string;
let asUser: EscapeResults;
let asRoot: EscapeResults | undefined;
let control: EscapeResults;

function run(program: string, uid: number | undefined, provider = 'local'): EscapeResults {
  const place = mkdtempSync(join(folder, 'run-'));
  chmodSync(place, 0o777);
  const command = [process.execPath, program, provider];
  const [first = '', ...rest] =
    uid === undefined
      ? command
      : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--', ...command];
  const output = execFileSync(first, rest, {
    encoding: 'utf8',
    cwd: place,
    env: { PATH: process.env.PATH, HOME: place, TMPDIR: place },
  });
  return JSON.parse(output) as EscapeResults;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'prime-escape-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'program'));
  const program = join(folder, 'program', 'escape.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'escape-program.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    loader: { '.sh': 'text' },
    logLevel: 'error',
  });
  asUser = run(program, root ? ORDINARY : undefined);
  asRoot = root ? run(program, undefined) : undefined;
  // Never as root: there the attempts would succeed on this machine.
  control = run(program, root ? ORDINARY : undefined, 'none');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('escapes from the local sandbox', () => {
  test.each(ESCAPE_ATTEMPTS.map(({ name }) => name))('%s: blocked for an ordinary user', (name) => {
    expect(asUser.uid).not.toBe(0);
    expect(asUser.results[name]?.said).toMatch(/^blocked/);
  });

  test.each(ESCAPE_ATTEMPTS.map(({ name }) => name))('%s: blocked for root', (name) => {
    if (asRoot !== undefined) expect(asRoot.results[name]?.said).toMatch(/^blocked/);
    else expect(root).toBe(false);
  });

  test.each([
    'read ssh keys and the home folder',
    'read other repositories',
    'find secrets of the environment',
    'connect to a server of the host over TCP',
    'connect to Unix sockets of the host, abstract and in files',
    'see, signal and trace processes of the host',
    'write outside the snapshot and the temporary folders',
    'share memory with the host (/dev/shm, System V)',
  ])('without isolation the attempt succeeds, so it is one: %s', (name) => {
    expect(control.results[name]?.said).toMatch(/^ESCAPED/);
  });

  test('nothing of the host changed, and nobody connected', () => {
    for (const outcome of [asUser, asRoot]) {
      if (outcome !== undefined) expect(outcome).toMatchObject({ hostChanges: [], connections: 0 });
    }
  });

  test('the table in docs/sandbox.md is what ran', () => {
    const cell = (outcome: EscapeResults | undefined, name: string): string =>
      outcome?.results[name]?.escaped === false || outcome === undefined ? 'blocked' : 'ESCAPED';
    const rows = ESCAPE_ATTEMPTS.map(
      ({ name, stoppedBy }) =>
        `| ${name} | ${stoppedBy} | ${cell(asRoot, name)} | ${cell(asUser, name)} |`,
    );
    const table = [
      '| attempt | what stops it | as root | as an ordinary user |',
      '|---|---|---|---|',
      ...rows,
      '',
    ].join('\n');
    const documented = readFileSync(join(import.meta.dirname, '../../../docs/sandbox.md'), 'utf8');
    expect(TABLE.exec(documented)?.[1]).toBe(table);
  });
});
