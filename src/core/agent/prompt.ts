/**
 * Every text that the agent itself puts into the conversation. Part of the scaffold hash: a policy
 * is trained on exactly these words, so a change here is a change of scaffold (see scaffold.ts).
 */
import type { TestCode } from './test-code.ts';

export const SYSTEM_PROMPT = `You fix failing tests in the repository at /workspace.
Read the failing test, find the cause, change the source, run the tests.
Change the source, not the tests or their configuration: such changes are undone before grading.
There is no network. Call submit when the target tests pass.`;

export interface FirstMessageParts {
  /** Rendered FAIL blocks of the targets (core/tools/run-tests). */
  readonly failures: string;
  /** Of the first target. */
  readonly code?: TestCode;
  readonly targetCount: number;
  /** From the user. */
  readonly hint?: string;
  /** From AGENTS.md and CONTRIBUTING.md of the repository. */
  readonly guidance?: string;
}

export function firstMessage(parts: FirstMessageParts): string {
  const head =
    parts.targetCount === 1
      ? 'Make this failing test pass.'
      : `Make these ${parts.targetCount} failing tests pass.`;
  const sections = [head, parts.failures];
  if (parts.code) sections.push(...codeSections(parts.code));
  if (parts.hint) sections.push(`Hint from the user: ${parts.hint}`);
  if (parts.guidance) sections.push(`From the repository's own guide:\n${parts.guidance}`);
  return sections.join('\n\n');
}

function codeSections({ file, firstLine, lines, imports }: TestCode): readonly string[] {
  const last = firstLine + lines.length - 1;
  const code = [`${file}, lines ${firstLine}-${last}:`, ...lines].join('\n');
  return imports.length === 0 ? [code] : [code, `It imports ${imports.join(', ')}.`];
}

export const NO_CALL_MESSAGE =
  'Your reply has no tool call. Call one of the tools; call submit when the target tests pass.';

export function malformedCallMessage(reason: string): string {
  return `That tool call could not be read: ${reason}`;
}

/** Appended to an observation when the same call failed in the same way before. */
export function repeatedCallNote(times: number): string {
  return `\n[This exact call has now failed ${times} times with the same result. Try something else.]`;
}

/** Each text once, on fixed inputs, for the scaffold hash. */
export function promptSamples(): Readonly<Record<string, string>> {
  return {
    system: SYSTEM_PROMPT,
    first: firstMessage({ failures: 'FAIL a', targetCount: 1 }),
    firstWithAll: firstMessage({
      failures: 'FAIL a',
      code: {
        file: 'test/a.test.js',
        firstLine: 3,
        lines: ["test('a', () => {", '});'],
        imports: ['src/a.js', 'src/b.js'],
      },
      targetCount: 2,
      hint: 'h',
      guidance: 'g',
    }),
    firstWithoutImports: firstMessage({
      failures: 'FAIL a',
      code: { file: 'test_a.py', firstLine: 3, lines: ['def test_a():'], imports: [] },
      targetCount: 1,
    }),
    noCall: NO_CALL_MESSAGE,
    malformed: malformedCallMessage('reason'),
    repeated: repeatedCallNote(3),
  };
}
