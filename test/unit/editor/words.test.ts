import { describe, expect, it } from 'vitest';
import { notLoadable } from '../../../src/core/fix/not-loadable.ts';
import { compare } from '../../../src/core/fix/parity.ts';
import { selectTargets } from '../../../src/core/fix/select.ts';
import type { TestResult } from '../../../src/core/frameworks/framework.ts';
import { createPolicy } from '../../../src/core/policies/create-policy.ts';
import { describeEngineError } from '../../../src/core/sandbox/docker/problems.ts';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';
import { inEditorWords } from '../../../src/editor/support/words.ts';

const fails = (message: string): TestResult => ({
  id: 'a.js::x',
  file: 'a.js',
  name: 'x',
  status: 'failed',
  durationMs: 1,
  failure: { message, details: '' },
});

/** Texts as core gives them; those that need a machine are written down. */
async function texts(): Promise<readonly string[]> {
  const passes: TestResult = { ...fails(''), status: 'passed' };
  const parity = [
    "ENOENT: no such file or directory, open '.env'",
    "ModuleNotFoundError: No module named 'x'",
    'connect ECONNREFUSED 127.0.0.1:5432',
    'another',
  ].flatMap((message) => compare([fails(message)], [passes]).onlyInSandbox);
  const deps = { env: {}, signal: new AbortController().signal };
  const policies = await Promise.all([
    createPolicy({ policy: 'edit-search', model: 'x' }, deps),
    createPolicy({ policy: 'what' }, deps),
  ]);
  const docker = await chooseSandbox('docker');
  const empty = { results: [], failing: [], passing: [], flaky: [], collectionErrors: [] };
  const unknown = selectTargets({ ...empty, canaryFiles: [], durationMs: 1 }, ['x']);
  return [
    ...parity.map(({ remedy }) => remedy),
    ...policies.flatMap((made) => (made.kind === 'problem' ? [made.remedy] : [])),
    docker.kind === 'unavailable' ? docker.remedy : '',
    unknown.kind === 'unknown' ? unknown.problem.remedy : '',
    notLoadable([{ file: 'a.py', message: "ModuleNotFoundError: No module named 'x'" }]).remedy,
    'Name the folder that holds them, or pass the command: --command "…".',
    'Known test frameworks: pytest. For another one pass its command: --command "make test".',
    'Give them more time with --test-timeout SECONDS.',
    'See what is missing with: prime-agent doctor',
    'Running on this machine: Ollama with --policy http://127.0.0.1:11434/v1 --model qwen; LM Studio with --policy http://127.0.0.1:1234/v1 --model a/b. Or search without a model: --policy edit-search.',
    'Make it with npm run policy:nano, or use another policy: --policy edit-search.',
    'Install the packages again (npm ci), or use another policy: --policy edit-search.',
    'Build it with npm run build.',
    'Running them once in your own environment, to compare (--no-parity leaves it out)',
    'No isolation, as you asked with --sandbox none: commands of the agent can read and change everything that you can.',
    'Install bubblewrap. Or `--sandbox none`, if you accept that commands run without isolation.',
    'Get it with `docker pull node:22`, or choose one of `docker images` with `--docker-image NAME`.',
    'Name an image in which the tests of this project run: --docker-image NAME. Or use --sandbox local.',
    ...['ENOENT', 'EACCES', 'ENOMEM'].map(
      (code) =>
        describeEngineError(
          { code, message: code === 'ENOMEM' ? 'cannot allocate memory' : code },
          'unix:///s',
        ).remedy,
    ),
    describeEngineError(new Error('odd'), 'unix:///s').remedy,
    'Check that both use the same interpreter: prime-agent doctor.',
    'Run `prime-agent doctor`; it tries the sandbox and names what is missing.',
  ];
}

describe("core's texts in the editor", () => {
  it('name settings and commands of the editor, not options of the command line', async () => {
    for (const text of await texts()) {
      expect(inEditorWords(text)).not.toMatch(/--\w|prime-agent \w|\bnpm (?:ci|run)\b/);
    }
  });

  it('stay sentences', () => {
    expect(
      [
        'Install the packages again (npm ci), or use another policy: --policy edit-search.',
        'Make it with npm run policy:nano, or use another policy: --policy edit-search.',
        'Name the folder that holds them, or pass the command: --command "…".',
        'A file is missing that git ignores. Name it: --include ".env" (globs work).',
        'Ollama with --policy http://127.0.0.1:11434/v1 --model qwen. Or search without a model: --policy edit-search.',
        'Running them once in your own environment, to compare (--no-parity leaves it out)',
        'choose one of `docker images` with `--docker-image NAME`.',
        'Run fewer attempts at the same time (`--parallel 1`).',
        'Run `prime-agent doctor`; it tries the engine.',
      ].map(inEditorWords),
    ).toEqual([
      'Install the extension again, or use another policy: edit-search.',
      'Use another policy: edit-search.',
      'Name the folder that holds them, or set the test command in primeAgent.testCommand.',
      'A file is missing that git ignores. Add ".env" to primeAgent.include (globs work).',
      'Ollama. Or search without a model: edit-search.',
      'Running them once in your own environment, to compare (primeAgent.parity switches this off)',
      'choose one of `docker images` with primeAgent.dockerImage.',
      'Run fewer attempts at the same time (primeAgent.parallel).',
      'Run “Prime Agent: Check this machine”; it tries the engine.',
    ]);
  });

  it('are left alone where they name nothing', () => {
    expect(inEditorWords('No test fails: 2 of 2 pass.')).toBe('No test fails: 2 of 2 pass.');
  });
});
