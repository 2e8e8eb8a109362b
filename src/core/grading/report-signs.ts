import type { Framework, TestResult } from '../frameworks/framework.ts';

/**
 * Signs in the report of a whole run that something else than the reporter wrote into it. Code under
 * test runs as the same user as the runner and, with pytest, in its process: it can find the
 * descriptor. It cannot take back what was written, so what is left to it is to write more.
 *
 * @returns in words; empty: all is well
 */
export function forgedLines(report: Uint8Array, framework: Framework['id']): readonly string[] {
  if (framework === 'command') return [];
  const signs = new Set<string>();
  const seen = new Set<string>();
  let starts = 0;
  let ended = false;
  for (const line of new TextDecoder().decode(report).split('\n')) {
    const { type, id } = readLine(line);
    if (type === undefined) continue;
    if (ended) signs.add('the report goes on after its end');
    switch (type) {
      case 'start':
        starts += 1;
        break;
      case 'end':
        ended = true;
        break;
      case 'discard':
        // Only a launcher that was asked for single tests writes this.
        signs.add('the report was told to forget results');
        break;
      case 'result':
        // Pytest reports call, teardown and subtests under one id; node:test gives each its own.
        if (framework === 'node:test' && id !== undefined && seen.has(id))
          signs.add(`${id} was reported twice`);
        if (id !== undefined) seen.add(id);
        break;
    }
  }
  if (starts > 1) signs.add('the report begins more than once');
  return [...signs];
}

function readLine(text: string): { readonly type?: unknown; readonly id?: string } {
  if (!text.startsWith('{')) return {};
  try {
    const { type, id } = JSON.parse(text) as { type?: unknown; id?: unknown };
    return { type, ...(typeof id === 'string' && { id }) };
  } catch {
    return {};
  }
}

/**
 * node:test's reporter tells tests of one name apart by `#2`, `#3` in the order of their reports. A
 * forged report in front of the real one would make that one a test nobody asks for. So numbers that
 * the baseline does not know count for the name itself, and there the worst counts.
 */
export function foldUnknownNumbers(
  results: readonly TestResult[],
  known: ReadonlySet<string>,
): readonly TestResult[] {
  return results.map((test) => {
    if (known.has(test.id)) return test;
    const id = test.id.replace(/ #\d+$/, '');
    return id !== test.id && known.has(id) ? { ...test, id } : test;
  });
}
