import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeTest } from '../../frameworks/node-test/node-test.ts';
import { readLog } from '../../frameworks/run.ts';
import { openSealed } from '../../frameworks/seal.ts';
import { limiter } from '../../platform/limiter.ts';
import type { ProgramRequest, SandboxProvider, Toolchain } from '../../sandbox/sandbox.ts';
import type { Sources } from '../generate/fast-run.ts';
import { writeTree } from '../tree.ts';
import { keyOf as keyOfReport, type TestRunAnswer, type TestRuns } from './memory-session.ts';
import { quickReport } from './quick-report.ts';

export interface RehearsalCounts {
  /** Test runs that were asked for, and how they were answered. */
  asked: number;
  known: number;
  quick: number;
  real: number;
}

export interface RehearsalRuns {
  readonly testRuns: TestRuns;
  readonly counts: Readonly<RehearsalCounts>;
}

export interface RealPlace {
  readonly provider: SandboxProvider;
  readonly toolchain: Toolchain;
}

const MOST_KNOWN = 50_000;
/** Real runs at once: each is a sandbox with two processes of Node. */
const REAL_AT_ONCE = 2;

/**
 * Answers test runs of generated modules: the same tree and command as before from memory, since
 * such tasks are deterministic (they were kept because repeats agreed); else inside this process;
 * else, where only Node itself can tell (a module that cannot be loaded), in a real sandbox.
 */
export function createRehearsalRuns(place: RealPlace): RehearsalRuns {
  const known = new Map<string, Promise<TestRunAnswer>>();
  const counts: RehearsalCounts = { asked: 0, known: 0, quick: 0, real: 0 };
  const limited = limiter(REAL_AT_ONCE);

  const testRuns: TestRuns = (tree, request, options) => {
    counts.asked += 1;
    const key = keyOf(tree, request);
    const before = known.get(key);
    if (before) {
      counts.known += 1;
      return before;
    }
    const quick = answerQuickly(tree, request);
    if (quick) counts.quick += 1;
    else counts.real += 1;
    const files = new Map(tree);
    const answer = quick
      ? Promise.resolve(quick)
      : limited(() => runForReal(files, request, options.timeoutMs, place));
    known.set(key, answer);
    // What broke is asked again.
    answer.catch(() => known.delete(key));
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value ?? '');
    return answer;
  };
  return { testRuns, counts };
}

function keyOf(tree: ReadonlyMap<string, Buffer>, { argv }: ProgramRequest): string {
  const hash = createHash('sha1').update(argv.at(-1) ?? '');
  for (const path of [...tree.keys()].sort()) {
    hash.update(`\0${path}\0`).update(tree.get(path) ?? '');
  }
  return hash.digest('base64');
}

function answerQuickly(
  tree: ReadonlyMap<string, Buffer>,
  { argv }: ProgramRequest,
): TestRunAnswer | undefined {
  const { tests, list } = JSON.parse(argv.at(-1) ?? '{}') as {
    readonly tests: readonly string[];
    readonly list: boolean;
  };
  const sources: Sources = Object.fromEntries(
    [...tree].map(([path, content]) => [path, content.toString('utf8')]),
  );
  const testFiles = Object.keys(sources).filter((path) => nodeTest.steering.isTestFile(path));
  const [testFile, ...others] = testFiles;
  // More than the one test file of a generated module: somebody else's tree.
  if (list || testFile === undefined || others.length > 0) return undefined;
  if (tests.some((id) => id !== testFile && !id.startsWith(`${testFile}::`))) return undefined;
  const run = quickReport(sources, testFile, tests);
  if (run.kind === 'unknown') return undefined;
  const { report, ended, blocks } = run;
  return { report, log: '', exitCode: ended ? 0 : undefined, blocks };
}

async function runForReal(
  tree: ReadonlyMap<string, Buffer>,
  request: ProgramRequest,
  timeoutMs: number,
  { provider, toolchain }: RealPlace,
): Promise<TestRunAnswer> {
  const folder = await mkdtemp(join(tmpdir(), 'prime-rehearsal-'));
  try {
    await writeTree(
      folder,
      new Map([...tree].map(([path, content]) => [path, { mode: '100644', content }])),
    );
    const session = await provider.open({
      base: { id: 'rehearsal', tree: folder, workspacePath: folder, dependencies: [] },
      toolchain,
      toolbox: nodeTest.toolbox,
      limits: { processes: 256, fileBytes: 2 ** 26 },
    });
    try {
      const limits = { timeoutMs, maxOutputBytes: 2 ** 22 };
      const result = await session.run(request, limits);
      const { head, tail } = result.output;
      const sealed = Buffer.concat([head, tail]);
      return {
        report: openSealed(sealed, keyOfReport(request), false).report,
        log: await readLog(session, folderOf(request)),
        exitCode: result.end.kind === 'exited' ? result.end.code : undefined,
      };
    } finally {
      await session.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The folder of the log, as `frameworks/run.ts` gives it to its wrapper. */
function folderOf({ argv }: ProgramRequest): string {
  return argv[4] ?? '';
}
