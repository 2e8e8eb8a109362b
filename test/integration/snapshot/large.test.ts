import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { act, extract, git, repository, session, snapshot } from './fixtures.ts';

/** Milliseconds, and the result. */
async function timed<Result>(work: Promise<Result>): Promise<[number, Result]> {
  const started = performance.now();
  const result = await work;
  return [performance.now() - started, result];
}

// The bounds leave room for a busy machine; docs/snapshot.md has the figures of a quiet one.
test('10,000 files and 50,000 of dependencies: once, again, and after one change', async () => {
  const work = repository({ '.gitignore': 'node_modules/\n' });
  for (let folder = 0; folder < 200; folder++) {
    mkdirSync(join(work, `src/d${folder}`), { recursive: true });
    for (let file = 0; file < 50; file++) {
      writeFileSync(join(work, `src/d${folder}/f${file}.js`), `// ${folder} ${file}\n`.repeat(100));
    }
  }
  for (let folder = 0; folder < 1000; folder++) {
    mkdirSync(join(work, `node_modules/p${folder}`), { recursive: true });
    for (let file = 0; file < 50; file++)
      writeFileSync(join(work, `node_modules/p${folder}/f${file}.js`), '');
  }
  git(work, 'add', '-A');
  git(work, 'commit', '-qm', 'many');

  const lines: string[] = [];
  const [first, base] = await timed(snapshot(work, { onProgress: (text) => lines.push(text) }));
  expect(base).toMatchObject({
    files: 10_001,
    reused: false,
    dependencies: [{ path: 'node_modules' }],
  });
  expect(lines.some((line) => /^Copying files: \d+ of 10001$/.test(line))).toBe(true);
  expect(first).toBeLessThan(20_000);

  const [again, same] = await timed(snapshot(work));
  expect(same).toMatchObject({ id: base.id, reused: true });
  expect(again).toBeLessThan(2_000);

  appendFileSync(join(work, 'src/d7/f7.js'), 'changed\n');
  const [one, changed] = await timed(snapshot(work));
  expect(changed.reused).toBe(false);
  expect(one).toBeLessThan(5_000);
  expect(git(changed.tree, 'status', '--porcelain')).toBe('');
  expect(git(changed.tree, 'show', 'HEAD:src/d7/f7.js')).toContain('changed');

  const opened = await session(changed);
  await act(opened, 'echo x >> src/d9/f9.js; rm src/d9/f8.js');
  const [extracted, { files }] = await timed(extract(opened, changed));
  expect(files).toHaveLength(2);
  expect(extracted).toBeLessThan(10_000);
  if (process.env.PRIME_SHOW_TIMES) console.log({ first, again, one, extracted });
}, 300_000);
