import { posix } from 'node:path';
import type { Work } from '../policy.ts';
import type { PolicyManifest } from './policy-folder.ts';
import type { PolicyTokenizer } from './tokenizer.ts';

/** Room for what an attempt says and sees besides the first message and the files. */
const WORKING_TOKENS = 300;

/**
 * Why a small policy cannot work on this, in words that go on after its name; undefined: it can.
 * Told before attempts are spent, since it would end in a full context or in nothing.
 */
export function whyNotSuited(
  { name, handles, contextTokens }: Pick<PolicyManifest, 'name' | 'handles' | 'contextTokens'>,
  tokenizer: Pick<PolicyTokenizer, 'encodeText'>,
  { testFile, opening, sources }: Work,
): string | undefined {
  const kinds = handles.extensions.join(', ');
  const foreign = [testFile, ...sources.map(({ path }) => path)].find(
    (path) => !handles.extensions.includes(posix.extname(path)),
  );
  if (foreign !== undefined) return `${name} works on ${kinds} only, and this is about ${foreign}`;
  const [first] = sources;
  if (first === undefined) {
    return `${name} needs a test that imports its module by a relative path, and ${testFile} imports none`;
  }
  const size = (text: string): number => tokenizer.encodeText(text).length;
  for (const { path, text } of sources) {
    const tokens = size(text);
    if (tokens > handles.largestFileTokens) {
      return `${name} reads files of up to ${handles.largestFileTokens} of its tokens, and ${path} has ${tokens}`;
    }
  }
  const needed = size(opening) + size(first.text) + WORKING_TOKENS;
  if (needed <= contextTokens) return undefined;
  return `${name} reads ${contextTokens} tokens in all, and the failure with ${first.path} needs ${needed}`;
}
