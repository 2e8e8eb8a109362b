import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { checkConfig } from '../../../server/src/config.ts';

test('docs/server.md tells the defaults of the configuration, each of them', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/server.md'), 'utf8');
  const told = /```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  expect(checkConfig(parse(told), 'the page')).toEqual(checkConfig({}, 'nothing'));
  expect(parse(told)).toMatchObject({ work: { niceness: 19, onBattery: 'pause' } });
});
