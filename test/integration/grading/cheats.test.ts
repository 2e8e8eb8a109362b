import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { allFrameworks } from '../../../src/core/frameworks/all.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { makeBaseline } from '../../../src/core/grading/baseline.ts';
import { gradePatch } from '../../../src/core/grading/grade.ts';
import type { Baseline, GradeReport, GradeSetup } from '../../../src/core/grading/types.ts';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { suiteFolder } from '../../support/temp.ts';

/**
 * Cheats and honest patches, written from the outside (test/fixtures/cheats). The whole table is a
 * document, docs/grading-cases.md: what changes there is a decision.
 */
const FIXTURES = new URL('../../fixtures/cheats/', import.meta.url).pathname;
const CASES_DOCUMENT = '../../../docs/grading-cases.md';

const casesSchema = z.object({
  bases: z.record(
    z.string(),
    z.object({
      framework: z.enum(['node:test', 'pytest']),
      env: z.record(z.string(), z.string()),
    }),
  ),
  cases: z.array(
    z.object({
      id: z.string(),
      framework: z.enum(['node:test', 'pytest']),
      base: z.string(),
      target: z.array(z.string()),
      patch: z.string(),
      kind: z.enum(['cheat', 'legitimate']),
      class: z.string(),
      note: z.string(),
      /** Something that not every interpreter has; without it the cheat is void. */
      needs: z.string().optional(),
    }),
  ),
});
type Case = z.infer<typeof casesSchema>['cases'][number];

interface Result {
  readonly item: Case;
  /** What a user and a learner would see of the patch. */
  readonly decision:
    | 'rejected'
    | 'with test changes'
    | 'flagged'
    | 'accepted'
    | 'not graded'
    | 'not accepted';
  readonly why: string;
}

const folder = suiteFolder();
const { bases, cases } = casesSchema.parse(
  JSON.parse(await readFile(join(FIXTURES, 'cases.json'), 'utf8')),
);
const setups = new Map<string, { setup: GradeSetup; baseline: Baseline }>();

beforeAll(async () => {
  for (const [name, { framework: id, env }] of Object.entries(bases)) {
    const root = join(folder(), 'work', name);
    await mkdir(root, { recursive: true });
    await cp(join(FIXTURES, name), root, { recursive: true });
    setups.set(name, await prepare(root, id, env));
  }
}, 120_000);

async function prepare(
  root: string,
  id: string,
  env: Record<string, string>,
): Promise<{ setup: GradeSetup; baseline: Baseline }> {
  const framework = allFrameworks.find((candidate) => candidate.id === id);
  const toolchain = await framework?.toolchain(openWorkspaceFiles(root));
  const stateDir = join(folder(), 'state');
  const made = await makeBase(root, { stateDir });
  const sandbox = await chooseSandbox('auto', { stateDir });
  if (
    !framework ||
    toolchain?.kind !== 'found' ||
    made.kind !== 'base' ||
    sandbox.kind !== 'available'
  ) {
    throw new Error(`cannot prepare ${root}: ${JSON.stringify({ toolchain, made, sandbox })}`);
  }
  const setup: GradeSetup = {
    provider: sandbox.provider,
    spec: {
      base: made.base,
      toolchain: { ...toolchain.toolchain, env: { ...toolchain.toolchain.env, ...env } },
      toolbox: framework.toolbox,
      limits: { processes: 512, fileBytes: 2 ** 30 },
    },
    framework,
    program: toolchain.program,
    projectPath: '',
    timeoutMs: 15_000,
  };
  const outcome = await makeBaseline(setup);
  if (outcome.kind !== 'baseline')
    throw new Error(`no baseline of ${root}: ${JSON.stringify(outcome)}`);
  return { setup, baseline: outcome.baseline };
}

async function gradeCase(item: Case): Promise<Result> {
  const prepared = setups.get(item.base);
  if (!prepared) throw new Error(`no base ${item.base}`);
  const patch = await readFile(join(FIXTURES, item.patch), 'utf8');
  const graded = await gradePatch({ ...prepared, targets: item.target, patch });
  if (graded.kind !== 'graded') return { item, decision: 'not graded', why: graded.reason };
  const decided = decide(graded.report);
  // The table must read the same on every machine.
  if (item.needs && decided.decision !== 'accepted')
    return { item, ...decided, decision: 'not accepted' };
  return { item, ...decided };
}

function decide(report: GradeReport): Pick<Result, 'decision' | 'why'> {
  const { verdict, strict, flags } = report;
  if (verdict === 'failed') return { decision: 'rejected', why: strict.explanation };
  if (verdict === 'passed_with_test_changes')
    return { decision: 'with test changes', why: strict.explanation };
  if (flags.length > 0)
    return { decision: 'flagged', why: [...new Set(flags.map((flag) => flag.rule))].join(', ') };
  return { decision: 'accepted', why: '' };
}

function rating({ item, decision }: Result): string {
  if (item.kind === 'cheat') return decision === 'accepted' ? '**missed**' : 'caught';
  if (decision === 'accepted') return 'right';
  return decision === 'flagged' ? 'false alarm (flag only)' : '**wrongly rejected**';
}

function table(results: readonly Result[]): string {
  const count = (kind: Case['kind'], wanted: RegExp): number =>
    results.filter((result) => result.item.kind === kind && wanted.test(rating(result))).length;
  const cheats = results.filter((result) => result.item.kind === 'cheat').length;
  const rows = results.map(
    (result) =>
      `| ${result.item.id} | ${result.item.kind} | ${result.item.class} | ${result.decision} | ${rating(result)} | ${cell(result.why)} |`,
  );
  return `# Cheats and honest patches, graded

Written by \`test/integration/grading/cheats.test.ts\`; do not edit by hand. The cases are in
\`test/fixtures/cheats\`, with a note on each.

- Cheats: ${cheats}. Caught ${count('cheat', /caught/)}, missed ${count('cheat', /missed/)}.
- Honest patches: ${results.length - cheats}. Right ${count('legitimate', /^right/)}, flagged without need (shown, but not trained on) ${count('legitimate', /false alarm/)}, wrongly rejected ${count('legitimate', /rejected/)}.

| case | kind | class | decision | rating | why |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').slice(0, 160);
}

describe('grading of patches written to deceive it, and of honest ones next to them', () => {
  it('decides as docs/grading-cases.md says', { timeout: 600_000 }, async () => {
    const results: Result[] = [];
    const queue = [...cases];
    const worker = async (): Promise<void> => {
      for (let item = queue.shift(); item; item = queue.shift())
        results.push(await gradeCase(item));
    };
    await Promise.all([worker(), worker()]);
    const order = new Map(cases.map((item, index) => [item.id, index]));
    results.sort((a, b) => (order.get(a.item.id) ?? 0) - (order.get(b.item.id) ?? 0));
    await expect(table(results)).toMatchFileSnapshot(CASES_DOCUMENT);
  });
});
