import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import launcher from '../../../src/core/frameworks/junit/launch.sh';
import { tempFolder, writeFiles } from '../../support/temp.ts';

const run = promisify(execFile);

/** What the launcher reports of a tool: the paths of the XML files that it sends. */
async function reported(folder: string, tool: string): Promise<readonly string[]> {
  await writeFiles(folder, { 'launch.sh': launcher });
  const command = ['-c', 'exec 9>&1; exec bash launch.sh 9 run bash -c "$1"', 'bash', tool];
  const { stdout } = await run('bash', command, { cwd: folder });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"type":"xml"'))
    .map((line) => JSON.parse(line).path as string);
}

const REPORT = '<testsuite><testcase name="adds" classname="shop.CalcTest"/></testsuite>\n';
const PLACES = [
  'target/surefire-reports/TEST-a.xml',
  'target/failsafe-reports/TEST-a.xml',
  'app/build/test-results/test/TEST-a.xml',
];

describe('the launcher of Maven and Gradle', () => {
  test.each(PLACES)('sends what the tool writes: %s', async (place) => {
    const folder = await tempFolder();
    const write = `mkdir -p ${join(place, '..')} && echo '${REPORT.trim()}' >${place}`;
    expect(await reported(folder, write)).toEqual([place]);
  });

  test('takes no report of an earlier run for one of this run', async () => {
    const folder = await tempFolder();
    await writeFiles(folder, Object.fromEntries(PLACES.map((place) => [place, REPORT])));
    expect(await reported(folder, 'true')).toEqual([]);
    expect(await readdir(join(folder, 'target/surefire-reports'))).toEqual([]);
  });
});
