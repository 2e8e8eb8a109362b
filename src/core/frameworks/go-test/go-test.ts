import { posix } from 'node:path';
import { TOOLBOX, WORKSPACE } from '../../sandbox/sandbox.ts';
import type { Framework, RunRequest, TestCommand } from '../framework.ts';
import { fileOf, insideProject } from '../select.ts';
import { plantGoCanaries } from './canaries.ts';
import { detectGo } from './detect.ts';
import launcher from './launch.sh';
import { parseGoReport } from './parse.ts';
import { goSteering } from './steering.ts';
import { findGo } from './toolchain.ts';

/** Linux allows 128 KiB for one argument. */
const MAX_PATTERN_BYTES = 100_000;

/**
 * `go test -json`. Ids are `folder/file_test.go::TestName/subtest`, with Go's own names; Go itself
 * knows no files, so the launcher looks up where each function is.
 */
export const goTest: Framework = {
  id: 'go test',
  label: 'go test',
  detect: detectGo,
  toolchain: (workspace) => findGo(workspace),
  toolbox: { 'go-test/launch.sh': launcher },
  command,
  parse: parseGoReport,
  steering: goSteering,
  plantCanaries: plantGoCanaries,
};

function command(request: RunRequest): TestCommand {
  const { program, projectPath, reportFd, listOnly } = request;
  const { pattern, packages, files } = goSelection(insideProject(request.tests, projectPath));
  return {
    argv: [
      ...['bash', `${TOOLBOX}/go-test/launch.sh`, String(reportFd), program],
      ...[listOnly ? 'list' : 'run', pattern, ...packages, '--', ...files],
    ],
    env: {
      // Nothing is fetched, neither modules nor another tool chain; no settings of the user's.
      GOPROXY: 'off',
      GOSUMDB: 'off',
      GOTOOLCHAIN: 'local',
      GOENV: 'off',
      GOTELEMETRY: 'off',
    },
    cwd: posix.join(WORKSPACE, projectPath),
  };
}

export interface GoSelection {
  /** For `-run`; empty: all tests of the packages, as far as `files` do not name some. */
  readonly pattern: string;
  /** Package patterns: `./...`, `./calc`. */
  readonly packages: readonly string[];
  /** Test files of which everything is chosen. */
  readonly files: readonly string[];
}

/** What `go test` is told for these ids; it may run more, and results are filtered afterwards. */
export function goSelection(tests: readonly string[]): GoSelection {
  if (tests.length === 0) return { pattern: '', packages: ['./...'], files: [] };
  const packages = new Set<string>();
  const files = new Set<string>();
  const patterns = new Set<string>();
  let whole = false;
  for (const id of tests) {
    const file = fileOf(id);
    if (!file.endsWith('.go')) {
      packages.add(`./${posix.join(file, '...')}`);
      whole = true;
      continue;
    }
    packages.add(`./${posix.dirname(file)}`);
    if (id === file) files.add(file);
    else patterns.add(patternFor(id.slice(file.length + 2)));
  }
  const pattern = [...patterns].join('|');
  // Too many to name: whole packages, of which only the chosen results count.
  if (whole || pattern.length > MAX_PATTERN_BYTES) {
    return { pattern: '', packages: [...packages], files: [] };
  }
  return { pattern, packages: [...packages], files: [...files] };
}

/** Each level of subtests is matched by itself. */
function patternFor(name: string): string {
  const levels = name.split('/').map((level) => {
    return `^${level.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
  });
  return levels.join('/');
}
