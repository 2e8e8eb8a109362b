import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  differences,
  openResults,
  readResults,
  taskSetHash,
} from '../../../src/core/evaluation/results-file.ts';
import { tempFolder } from '../../support/temp.ts';
import { idOf, makeHeader, makeRecord } from './make.ts';

const fileIn = async (): Promise<string> => join(await tempFolder(), 'results.jsonl');

describe('a file of results', () => {
  it('gives back what was written, attempt by attempt', async () => {
    const file = await fileIn();
    const header = makeHeader();
    const writer = await openResults(file, header);
    expect(writer.done).toEqual([]);
    const records = [makeRecord('a', 0, 'solved'), makeRecord('b', 0, 'failed')];
    for (const record of records) {
      await writer.append(record);
      // Nothing is held back: a crash now loses none.
      expect((await readResults(file)).records.at(-1)).toEqual(record);
    }
    await writer.close();
    expect(await readResults(file)).toEqual({ header, records });
  });

  it('goes on where an interrupted run stopped, without the line that was cut', async () => {
    const file = await fileIn();
    const first = await openResults(file, makeHeader());
    await first.append(makeRecord('a', 0, 'invalid'));
    await first.close();
    await appendFile(file, '{"type":"attempt","ta');
    expect((await readResults(file)).records.length).toBe(1);

    const again = await openResults(file, makeHeader());
    expect(again.done).toEqual([makeRecord('a', 0, 'invalid')]);
    await again.append(makeRecord('a', 0, 'solved'));
    await again.close();
    // The later record of an attempt counts.
    expect((await readResults(file)).records).toEqual([makeRecord('a', 0, 'solved')]);
    expect((await readFile(file, 'utf8')).split('\n').length).toBe(4);
  });

  it('is not mixed with another evaluation', async () => {
    const file = await fileIn();
    await (await openResults(file, makeHeader())).close();
    const before = await readFile(file);
    const other = makeHeader({ tries: 3, settings: { seed: 1 }, tasks: ['a', 'c'] });
    await expect(openResults(file, other)).rejects.toThrow(
      `${file} holds the results of another evaluation (different: tasks, seed, tries). Name another file with --out, or remove it.`,
    );
    expect(await readFile(file)).toEqual(before);
  });

  it.each([
    ['', 'holds no results of an evaluation: it does not begin with a header'],
    [
      '{"a":1}\n',
      "line 1 is no line of results (type: Invalid discriminator value. Expected 'header' | 'attempt'). Name a file",
    ],
    ['nonsense\n', 'line 1 is not JSON: the file is damaged. Evaluate again into a new file.'],
    [
      `${JSON.stringify({ ...makeHeader(), version: '2.0' })}\n`,
      'line 1: the results have version 2.0, this program reads 1.0',
    ],
    [
      `${JSON.stringify(makeRecord('a', 0, 'solved'))}\n`,
      'holds no results of an evaluation: it does not begin with a header',
    ],
    [
      `${JSON.stringify(makeHeader())}\n${JSON.stringify(makeHeader())}\n`,
      'line 2: a second header',
    ],
  ])('that is something else is refused: %j', async (text, reason) => {
    const file = await fileIn();
    await writeFile(file, text);
    await expect(readResults(file)).rejects.toThrow(reason);
  });

  it('that holds something else is not written to', async () => {
    const file = await fileIn();
    await writeFile(file, 'my notes\n');
    await expect(openResults(file, makeHeader())).rejects.toThrow('is not JSON');
    expect(await readFile(file, 'utf8')).toBe('my notes\n');
  });

  it('that is missing is named, with what to do', async () => {
    const file = await fileIn();
    await expect(readResults(file)).rejects.toThrow(/ENOENT.*Name a file that `prime-agent eval`/);
  });
});

describe('the hash of the tasks', () => {
  it('does not depend on their order', () => {
    expect(taskSetHash(['x', 'y'])).toBe(taskSetHash(['y', 'x']));
    expect(taskSetHash(['x', 'y'])).not.toBe(taskSetHash(['x']));
  });
});

describe('what makes two evaluations different', () => {
  it('is not when they began', () => {
    const later = { ...makeHeader(), startedAt: '2030-01-01T00:00:00.000Z' };
    expect(differences(makeHeader(), later)).toEqual([]);
  });

  it('is the policy with its hash, and every budget', () => {
    const { settings, policy } = makeHeader();
    const budgets = { ...settings.budgets, turns: 11 };
    const other = makeHeader({ label: 'other', settings: { budgets } });
    expect(differences(makeHeader(), other)).toEqual(['policy', 'turns']);
    expect(policy.hash).toBeUndefined();
    expect(makeHeader().policyHash).not.toBe(other.policyHash);
    expect(idOf('a')).not.toBe(idOf('b'));
  });
});
