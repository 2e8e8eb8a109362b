import { createEditSearchPolicy } from '../../src/core/policies/edit-search/edit-search.ts';
import type { EditChoice } from '../../src/core/policies/edit-search/steps.ts';
import { EXPERT_BUDGETS } from '../../src/core/tasks/demonstrations/demonstrate.ts';
import { renameTask } from '../../src/core/tasks/demonstrations/rename.ts';
import { type Chance, createChance } from '../../src/core/tasks/random.ts';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import { openRehearsal, rehearse } from '../../src/core/tasks/rehearsal/rehearse.ts';
import type { Task } from '../../src/core/tasks/task.ts';
import type { FileTree } from '../../src/core/tasks/tree.ts';
import { viewOf } from '../../src/core/tasks/views.ts';
import { type Decision, isRight } from './decisions.ts';
import type { NanoSettings } from './settings.ts';

/** Edits that are offered before those of operators that are held out are left out of them. */
const OFFERED = 1_000;

/**
 * Choices of an expert, who plays each task through the real loop and tools as the policy will, under
 * other names: after some tries that did not help, drawn by their scores, the one that does.
 */
export async function* decisionsOfTasks(
  tasks: readonly { readonly task: Task; readonly tree: FileTree }[],
  { perTask, wrongTries, renamed }: NanoSettings['decisions'],
  testRuns: TestRuns,
): AsyncGenerator<Decision> {
  for (const { task, tree } of tasks) {
    for (let variant = 0; variant < perTask; variant += 1) {
      const chance = createChance('decisions', task.id, variant);
      const other = renameTask(task, tree, chance, chance.pick(renamed));
      const id = `${task.id}-${variant}`;
      const made = await play(
        id,
        other.task,
        other.tree,
        chance.pick(wrongTries),
        chance,
        testRuns,
      );
      if (made !== undefined) yield made;
    }
  }
}

async function play(
  id: string,
  task: Task,
  tree: FileTree,
  wrongTries: number,
  chance: Chance,
  testRuns: TestRuns,
): Promise<Decision | undefined> {
  const opened = await openRehearsal(task, tree, testRuns);
  if (opened.kind === 'different') return undefined;
  const firstMessage = opened.messages.find(({ role }) => role === 'user')?.content ?? '';
  const { path } = task.bug;
  const original = viewOf(task, tree, 'original').get(path)?.content.toString('utf8') ?? '';
  const right = [new Map([[path, original]])];
  let made: Decision | undefined;
  let tried = 0;
  const pick = (choice: EditChoice): number => {
    const fits = choice.edits.map((edit) => isRight(edit, choice.texts, right));
    const best = fits.indexOf(true);
    if (made === undefined && best >= 0 && tried < wrongTries) {
      tried += 1;
      const weights = choice.edits.map(({ score }, at) => (fits[at] ? 0 : score));
      return drawn(weights, chance);
    }
    if (made === undefined && best >= 0) {
      const { texts, edits } = choice;
      made = { id, firstMessage, texts, edits, right };
    }
    return Math.max(0, best);
  };
  await rehearse(
    {
      task,
      tree,
      policy: createEditSearchPolicy({ batch: 1, turns: 200, choose: { offered: OFFERED, pick } }),
      seed: 0,
      budgets: { ...EXPERT_BUDGETS, tries: wrongTries + 2 },
      rules: 'strict',
      sink: { append: async () => undefined },
      signal: new AbortController().signal,
    },
    testRuns,
  );
  return made;
}

/** An index in proportion to its weight. */
function drawn(weights: readonly number[], chance: Chance): number {
  let left = chance.next() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return 0;
}
