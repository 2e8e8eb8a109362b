import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { captured } from './context.ts';

describe('a wrong command line', () => {
  it.each([
    [
      ['fix', '--attempts', '0'],
      "option '--attempts <n>' argument '0' is invalid. must be a whole number above 0.",
    ],
    [
      ['fix', '--attempts', 'many'],
      "option '--attempts <n>' argument 'many' is invalid. must be a whole number above 0.",
    ],
    [
      ['fix', '--max-minutes', '0'],
      "option '--max-minutes <n>' argument '0' is invalid. must be a number above 0.",
    ],
    [['tasks', 'check'], "required option '--fix <patch>' not specified"],
    [['tasks', 'check', '--fix', 'x', '--repeats', '1'], 'must be a whole number, 2 or above.'],
    [['fix', '--sandbox', 'moon'], 'Allowed choices are auto, local, docker, none.'],
    [['fix', '--unheard-of'], "unknown option '--unheard-of'"],
    [['fix', 'one', 'two'], "too many arguments for 'fix'. Expected 1 argument but got 2."],
    [['fix', '--policy', 'clairvoyance'], 'There is no policy "clairvoyance".'],
    [['fix', '--policy', '/'], '/ holds no policy: policy.json is missing'],
    [['fix', '--model', 'large'], 'edit-search has no models.'],
    [['trajectories', 'export', '--format', 'xml'], 'Allowed choices are jsonl, atif.'],
    [['unheard-of'], "unknown command 'unheard-of'"],
    [[], 'Usage: prime-agent [options] [command]'],
  ])('%j ends with 2 and one explanation', async (args, explanation) => {
    const { context, stdout, stderr } = captured();
    expect(await createProgram(context).run(args)).toBe(2);
    expect(stdout()).toBe('');
    expect(stderr()).toContain(explanation);
  });

  it('is answered by help when help is asked for', async () => {
    const { context, stdout, stderr } = captured();
    expect(await createProgram(context).run(['--help'])).toBe(0);
    expect(stdout()).toContain('fix [options] [path]');
    expect(stderr()).toBe('');
  });
});
