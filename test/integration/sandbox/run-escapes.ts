import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../../scripts/lib/bundle.mjs';
import { ESCAPE_ATTEMPTS } from './escape-attempts.ts';
import type { EscapeResults } from './escape-program.ts';

const TABLE = /<!-- escapes:start -->\n([\s\S]*)<!-- escapes:end -->/;

/** Somebody else than root; when the tests themselves run as an ordinary user, that one. */
export const ORDINARY = process.getuid?.() === 0 ? 65534 : undefined;

export interface EscapeRunner {
  /** Runs every attempt; `uid` undefined: as the user of the tests. */
  run(
    uid: number | undefined,
    provider: readonly string[],
    variables?: Readonly<Record<string, string>>,
  ): EscapeResults;
  remove(): void;
}

/** The program with the attempts, bundled so that other users can run it. */
export async function createEscapeRunner(): Promise<EscapeRunner> {
  const folder = mkdtempSync(join(tmpdir(), 'prime-escape-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'program'));
  const program = join(folder, 'program', 'escape.mjs');
  await build({
    ...bundleOptions,
    entryPoints: [join(import.meta.dirname, 'escape-program.ts')],
    outfile: program,
    logLevel: 'error',
  });
  return {
    run: (uid, provider, variables = {}) => {
      const place = mkdtempSync(join(folder, 'run-'));
      chmodSync(place, 0o777);
      const command = [process.execPath, program, ...provider];
      const [first = '', ...rest] =
        uid === undefined
          ? command
          : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--', ...command];
      const output = execFileSync(first, rest, {
        encoding: 'utf8',
        cwd: place,
        env: { PATH: process.env.PATH, HOME: place, TMPDIR: place, ...variables },
      });
      return JSON.parse(output) as EscapeResults;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The table of a document in docs/. */
export function documentedTable(name: string): string | undefined {
  const text = readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8');
  return TABLE.exec(text)?.[1];
}

/** The same table, of what ran. An outcome that is undefined could not be tried here. */
export function escapeTable(
  asRoot: EscapeResults | undefined,
  asUser: EscapeResults | undefined,
  sandbox: 'local' | 'docker',
): string {
  const cell = (outcome: EscapeResults | undefined, name: string): string =>
    outcome === undefined || outcome.results[name]?.escaped === false ? 'blocked' : 'ESCAPED';
  return [
    '| attempt | what stops it | as root | as an ordinary user |',
    '|---|---|---|---|',
    ...ESCAPE_ATTEMPTS.map(
      ({ name, stoppedBy, stoppedByDocker }) =>
        `| ${name} | ${(sandbox === 'docker' && stoppedByDocker) || stoppedBy} | ${cell(asRoot, name)} | ${cell(asUser, name)} |`,
    ),
    '',
  ].join('\n');
}
