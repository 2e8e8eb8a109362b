import { createChance } from '../random.ts';
import { type Evaluated, evaluateAll, exportedNames, runFast, type Sources } from './fast-run.ts';
import { focusDraft } from './focus.ts';
import { literal, type Pinned, type PinnedCase, renderTests } from './render.ts';
import { createVariation, type Template } from './template.ts';

/** A correct module with its tests, all of which pass. */
export interface GeneratedModule {
  readonly family: string;
  readonly files: Sources;
  /** Files that may get a bug. */
  readonly sourcePaths: readonly string[];
  readonly testPath: string;
}

const MOST_TESTS = 12;
const FEWEST_TESTS = 6;
/** Share of the modules of which one export is left, and the tests that such a one has at least. */
const FOCUSED = 0.85;
const FEWEST_FOCUSED_TESTS = 3;

/** The module number `index` of a family. Throws when the template gives no sound module. */
export function generateModule(template: Template, seed: number, index: number): GeneratedModule {
  const chance = createChance('module', template.family, seed, index);
  const whole = template.make(createVariation(chance));
  const focus = createChance('focus', template.family, seed, index);
  const focused = focus.chance(FOCUSED)
    ? focusDraft(whole, focus, FEWEST_FOCUSED_TESTS)
    : undefined;
  const draft = focused ?? whole;
  const folder = chance.pick(['src', 'src', 'lib']);
  const path = `${folder}/${draft.name}.js`;
  const testPath = `test/${draft.name}.test.js`;
  const sources: Record<string, string> = { [path]: `${draft.source}\n` };
  if (draft.helper) sources[`${folder}/${draft.helper.name}.js`] = `${draft.helper.source}\n`;

  const where = `${template.family} ${seed}/${index}`;
  const evaluated = evaluateAll(
    sources,
    path,
    draft.cases.map(([, ...lines]) => lines),
  );
  if (evaluated === undefined) throw new Error(`${where}: the module cannot be loaded`);
  const pinned: PinnedCase[] = [];
  for (const [at, found] of draft.cases.entries()) {
    const result = evaluated[at];
    const expected = result === undefined ? undefined : pin(result);
    if (expected === undefined) {
      throw new Error(`${where}: "${found[0]}" gives nothing that can be written down`);
    }
    pinned.push({ case: found, expected });
  }
  if (pinned.length < (focused ? FEWEST_FOCUSED_TESTS : FEWEST_TESTS))
    throw new Error(`${where}: too few tests`);
  const kept = new Set(chance.shuffle(pinned).slice(0, Math.min(MOST_TESTS, chance.int(7, 12))));
  const text = renderTests(
    pinned.filter((item) => kept.has(item)),
    { name: draft.name, path: `../${path}`, names: exportedNames(draft.source) },
    chance,
  );
  const manifest = {
    name: draft.name,
    private: true,
    type: 'module',
    scripts: { test: 'node --test' },
  };
  const files = {
    'package.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
    ...sources,
    [testPath]: text,
  };
  const run = runFast(files, testPath);
  if (run.kind !== 'ran' || [...run.tests.values()].includes(false)) {
    throw new Error(`${where}: the tests do not pass on the module itself`);
  }
  return { family: template.family, files, sourcePaths: Object.keys(sources), testPath };
}

function pin(result: Evaluated): Pinned | undefined {
  if (result.kind === 'throws') {
    return /^(?:Range|Syntax)?Error$/.test(result.name)
      ? { kind: 'throws', name: result.name }
      : undefined;
  }
  const text = literal(result.value);
  if (text === undefined) return undefined;
  return { kind: 'value', text, deep: typeof result.value === 'object' && result.value !== null };
}
