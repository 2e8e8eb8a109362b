import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { imageToolchain } from '../../../src/core/fix/image-toolchain.ts';
import { allFrameworks } from '../../../src/core/frameworks/all.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { makeBaseline } from '../../../src/core/grading/baseline.ts';
import { gradePatch } from '../../../src/core/grading/grade.ts';
import type { Baseline, GradeReport, GradeSetup } from '../../../src/core/grading/types.ts';
import type { SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { CHEATS, type Cheats, readCheats } from '../../support/cheats.ts';

/** The whole table is a document, docs/grading-cases.md: what changes there is a decision. */
type Case = Cheats['cases'][number];

export interface Result {
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

const { bases, cases } = await readCheats();
type Setups = ReadonlyMap<string, { readonly setup: GradeSetup; readonly baseline: Baseline }>;

export interface Place {
  /** For workspaces and state; removed by the caller. */
  readonly folder: string;
  readonly provider: SandboxProvider;
  /** Container: its programs take the place of this machine's. */
  readonly isContainer?: boolean;
  readonly timeoutMs: number;
}

/** All cases in this sandbox, two at a time, in the order of the table. */
export async function gradeCases(place: Place): Promise<readonly Result[]> {
  const setups = new Map<string, { setup: GradeSetup; baseline: Baseline }>();
  for (const [name, { framework: id, env }] of Object.entries(bases)) {
    const root = join(place.folder, 'work', name);
    await mkdir(root, { recursive: true });
    await cp(join(CHEATS, name), root, { recursive: true });
    setups.set(name, await prepare(place, root, id, env));
  }
  const results: Result[] = [];
  const queue = [...cases];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item; item = queue.shift())
      results.push(await gradeCase(setups, item));
  };
  await Promise.all([worker(), worker()]);
  const order = new Map(cases.map((item, index) => [item.id, index]));
  return results.sort((a, b) => (order.get(a.item.id) ?? 0) - (order.get(b.item.id) ?? 0));
}

async function prepare(
  { folder, provider, isContainer, timeoutMs }: Place,
  root: string,
  id: string,
  env: Record<string, string>,
): Promise<{ setup: GradeSetup; baseline: Baseline }> {
  const framework = allFrameworks.find((candidate) => candidate.id === id);
  const made = await makeBase(root, { stateDir: join(folder, 'state') });
  if (!framework || made.kind !== 'base') throw new Error(`cannot prepare ${root}`);
  const limits = { processes: 512, fileBytes: 2 ** 30 };
  const bare = { base: made.base, toolbox: framework.toolbox, limits };
  const toolchain = isContainer
    ? await imageToolchain(provider, bare, framework, '', new AbortController().signal)
    : await framework.toolchain(openWorkspaceFiles(root));
  if (toolchain.kind !== 'found') throw new Error(`cannot prepare ${root}: ${toolchain.reason}`);
  const setup: GradeSetup = {
    provider,
    spec: {
      ...bare,
      toolchain: { ...toolchain.toolchain, env: { ...toolchain.toolchain.env, ...env } },
    },
    framework,
    program: toolchain.program,
    projectPath: '',
    timeoutMs,
  };
  const outcome = await makeBaseline(setup);
  if (outcome.kind !== 'baseline')
    throw new Error(`no baseline of ${root}: ${JSON.stringify(outcome)}`);
  return { setup, baseline: outcome.baseline };
}

async function gradeCase(setups: Setups, item: Case): Promise<Result> {
  const prepared = setups.get(item.base);
  if (!prepared) throw new Error(`no base ${item.base}`);
  const patch = await readFile(join(CHEATS, item.patch), 'utf8');
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

export function casesTable(results: readonly Result[]): string {
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
