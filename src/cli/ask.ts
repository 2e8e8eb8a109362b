import { createInterface } from 'node:readline/promises';
import type { CliContext } from './context.ts';

/** undefined: there is nobody to ask. Anything but yes is no. */
export async function askYesNo(
  question: string,
  { stdin, stderr, signal }: CliContext,
): Promise<boolean | undefined> {
  if (!stdin?.isTTY) return undefined;
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
