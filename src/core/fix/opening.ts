import type { Message } from '../agent/messages.ts';
import { firstMessage, SYSTEM_PROMPT } from '../agent/prompt.ts';
import type { Redactor } from '../agent/redactor.ts';
import { findTestCode } from '../agent/test-code.ts';
import type { TestResult } from '../frameworks/framework.ts';
import type { TreeReader } from '../frameworks/inside-tree.ts';
import { renderFailures } from '../tools/run-tests/render.ts';

export interface Opening {
  /** The unchanged tree. */
  readonly tree: TreeReader;
  /** Results of the targets, of the baseline. */
  readonly failing: readonly TestResult[];
  readonly redactor: Pick<Redactor, 'redact'>;
  readonly hint?: string;
  readonly guidance?: string;
}

/** Written out in the first message; the others are counted. */
const SHOWN_FAILURES = 3;

/** System and first user message of an attempt, redacted. */
export async function openingMessages(opening: Opening): Promise<readonly Message[]> {
  const { tree, failing, redactor, hint, guidance } = opening;
  const [first] = failing;
  const text = firstMessage({
    failures: renderFailures(failing, { maxFailures: SHOWN_FAILURES }),
    code: first && (await findTestCode(tree, first)),
    targetCount: failing.length,
    hint,
    guidance,
  });
  return [
    { role: 'system', content: SYSTEM_PROMPT },
    { role: 'user', content: await redactor.redact(text) },
  ];
}
