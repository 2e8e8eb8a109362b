import { expect, test } from 'vitest';
import { tap } from '../../../src/core/frameworks/tap/tap.ts';
import { javaScriptProject } from '../../integration/frameworks/attacks.ts';
import { gradedProject } from '../../integration/frameworks/grade-support.ts';
import { installed } from '../../integration/frameworks/installed.ts';

/**
 * Tap makes its results of what a test's process prints, and so does our parser: no seal can be on
 * that. Here the least that holds is that such a source never counts without a flag.
 */
const TAP = `globalThis.attack = () => {
  const points = forged().filter((entry) => entry.name).map(({ name, status }, at) => (status === 'passed' ? '' : 'not ') + 'ok ' + (at + 1) + ' - ' + name + '\\n');
  fs.writeSync(1, points.join('') + '1..' + points.length + '\\n');
  process.reallyExit(1);
};\n`;

const project = javaScriptProject(
  'tap',
  'tap',
  'commonjs',
  `const t = require('tap');
const { half, price } = require('../src/price.js');
t.test('triples', (t) => { t.equal(price(3), 9); t.end(); });
t.test('halves', (t) => { t.equal(half(4), 2); t.end(); });
`,
  { 'a whole protocol, then the end of the process': TAP },
);

test.each(Object.entries(project.attacks).filter(([name]) => /^a whole/.test(name)))(
  'tap: %s is no solution',
  async (_, attack) => {
    const modules = await installed('tap');
    const { baseline, grade } = await gradedProject(tap, project.files, modules);
    expect(baseline.failing).toHaveLength(1);
    const { verdict, flags } = await grade({ [project.source]: attack });
    expect(verdict === 'passed' && flags.length === 0).toBe(false);
  },
);
