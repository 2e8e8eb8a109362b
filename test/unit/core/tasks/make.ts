import { finishTask, type Task } from '../../../../src/core/tasks/task.ts';
import { textTree, treeHash } from '../../../../src/core/tasks/tree.ts';

const SOURCE = 'export function add(a, b) {\n  const sum = a + b;\n  return sum;\n}\n';
const TESTS = "test('one', () => {});\ntest('two', () => {});\n";

export const TREE = textTree({ 'src/add.js': SOURCE, 'test/add.test.js': TESTS });
export const TREES = new Map([[treeHash(TREE), TREE]]);

/** A task over a tiny tree; `shape` stands for both normalised trees. */
export function makeTask(given: {
  readonly family: string;
  readonly operator: string;
  readonly shape: string;
}): Task {
  const from = SOURCE.indexOf('a + b') + 2;
  return finishTask({
    source: { kind: 'generated', template: given.family, seed: 1, index: 0 },
    tree: treeHash(TREE),
    framework: 'node:test',
    projectPath: '',
    bug: {
      path: 'src/add.js',
      from,
      to: from + 1,
      oldText: '+',
      newText: '-',
      line: 2,
      operator: given.operator,
      family: 'arithmetic',
      description: '+ becomes -',
    },
    hiddenRanges: [{ path: 'test/add.test.js', from: 0, to: TESTS.indexOf("test('two'") }],
    visible: ['test/add.test.js::two'],
    hidden: ['test/add.test.js::one'],
    targets: ['test/add.test.js::two', given.shape],
    passing: ['test/add.test.js::one', given.operator, given.family],
    patch: '',
    environment: { tool: 'node', range: '>=20.0.0', detail: '', lockFiles: [] },
    checked: { original: 1, bug: 2, visible: 1 },
    shapes: { original: given.shape, bug: given.shape },
  });
}
