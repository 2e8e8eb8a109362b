import { afterAll, beforeAll, it } from 'vitest';
import { expectFix } from '../../integration/cli/framework-fix.ts';
import { buildCli } from '../../integration/cli/world.ts';
import { installed } from '../../integration/frameworks/installed.ts';

let cli: Awaited<ReturnType<typeof buildCli>>;
beforeAll(async () => {
  cli = await buildCli();
});
afterAll(() => cli.remove());

it('fix with tap: a wrong fix is graded failed and the right one solved', async () => {
  await expectFix(cli.program, {
    modules: () => installed('tap'),
    files: {
      'package.json': '{"scripts":{"test":"tap"}}\n',
      'src/price.js': 'exports.price = (net, tax) => net - tax;\nexports.half = (n) => n / 2;\n',
      'test/price.test.js': `const t = require('tap');
const { half, price } = require('../src/price.js');
t.test('adds tax', (t) => { t.equal(price(10, 2), 12); t.end(); });
t.test('halves', (t) => { t.equal(half(4), 2); t.end(); });
`,
    },
    target: 'test/price.test.js::adds tax',
  });
});
