import { finishTask, type Task } from '../../../src/core/tasks/task.ts';
import { type FileTree, textTree, treeHash } from '../../../src/core/tasks/tree.ts';

const SOURCE = 'export function add(a, b) {\n  const sum = a + b;\n  return sum;\n}\n';
const HEAD =
  "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { add } from '../src/add.js';\n\n";
const VISIBLE =
  "test('adds', () => assert.equal(add(2, 3), 5));\ntest('adds nothing', () => assert.equal(add(2, 0), 2));\n";
const HIDDEN = "test('adds much', () => assert.equal(add(40, 50), 90));\n";

/** A sum that became a difference; one of the two tests that notice is hidden. `name` tells tasks apart. */
export function sumTask(name: string): { task: Task; tree: FileTree } {
  const tree = textTree({
    'package.json': `{"name":"${name}","type":"module","scripts":{"test":"node --test"}}\n`,
    'src/add.js': SOURCE,
    'test/add.test.js': HEAD + VISIBLE + HIDDEN,
  });
  const from = SOURCE.indexOf('+');
  const test = 'test/add.test.js';
  const task = finishTask({
    source: { kind: 'generated', template: 'sums', seed: 0, index: 0 },
    tree: treeHash(tree),
    framework: 'node:test',
    projectPath: '',
    bug: {
      path: 'src/add.js',
      from,
      to: from + 1,
      oldText: '+',
      newText: '-',
      line: 2,
      operator: 'plus-to-minus',
      family: 'arithmetic',
      description: '+ became -',
    },
    hiddenRanges: [
      {
        path: test,
        from: HEAD.length + VISIBLE.length,
        to: HEAD.length + VISIBLE.length + HIDDEN.length,
      },
    ],
    visible: [`${test}::adds`, `${test}::adds nothing`],
    hidden: [`${test}::adds much`],
    targets: [`${test}::adds`, `${test}::adds much`],
    passing: [`${test}::adds nothing`],
    patch: '',
    environment: { tool: 'node', range: '>=20', detail: '', lockFiles: [] },
    checked: { original: 1, bug: 2, visible: 1 },
    shapes: { original: name, bug: name },
  });
  return { task, tree };
}
