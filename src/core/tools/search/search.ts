import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { type SandboxSession, WORKSPACE } from '../../sandbox/sandbox.ts';
import { checkPath, fileErrorText, relativeToWorkspace } from '../paths.ts';
import type { Tool, ToolResult } from '../tool.ts';
import {
  badPatternText,
  EMPTY_TERM,
  missingPathText,
  NUL_IN_TERM,
  noMatchText,
  oneLineNote,
  parseMatches,
  renderMatches,
  timedOutNote,
} from './render.ts';
import script from './search.sh';

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 2_000_000;

const parameters = z.strictObject({
  search_term: z.string().describe('Text to find, case-sensitive.'),
  path: z.string().optional().describe('File or folder; default /workspace.'),
  regex: z.boolean().optional().describe('Read search_term as a regular expression.'),
});

/** Text search that obeys .gitignore: ripgrep in the sandbox where present, else git grep or grep. */
export function createSearchTool(
  session: Pick<SandboxSession, 'files' | 'run'>,
): Tool<typeof parameters> {
  return {
    name: 'search',
    description: 'Find text in the files of a folder. Ignored files are left out.',
    parameters,
    run: async ({ search_term, path = WORKSPACE, regex = false }, context): Promise<ToolResult> => {
      if (search_term.includes('\0')) return failed(NUL_IN_TERM);
      const term = longestLine(search_term);
      if (term === '') return failed(EMPTY_TERM);
      const target = await existing(session, path);
      if (typeof target !== 'string') return target;

      // Relative, so that the paths of matches are the same wherever the workspace is mounted.
      const relative = target === WORKSPACE ? '.' : `./${relativeToWorkspace(target)}`;
      const mode = regex ? 'regex' : 'literal';
      const { end, output } = await session.run(
        { argv: ['sh', '-c', script, 'search', mode, term, relative] },
        { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES, signal: context.signal },
      );
      const text = Buffer.from(output.head).toString('utf8');
      if (end.kind === 'exited' && end.code > 1 && text !== '' && !text.includes('\0')) {
        return failed(badPatternText(text));
      }
      const found = { matches: parseMatches(text), more: output.omittedBytes > 0 };
      const lines = [
        found.matches.length > 0
          ? renderMatches(found, regex ? undefined : term)
          : noMatchText(term, target),
      ];
      if (term !== search_term.replace(/\r?\n$/, '')) lines.push(oneLineNote(term));
      if (end.kind === 'timeout') lines.push(timedOutNote(TIMEOUT_MS / 1_000));
      return { ok: true, text: lines.join('\n') };
    },
  };
}

/** Programs search line by line: of a term with several lines the longest tells most. */
function longestLine(term: string): string {
  const lines = term.split(/\r?\n/);
  return lines.reduce((longest, line) =>
    line.trim().length > longest.trim().length ? line : longest,
  );
}

async function existing(
  session: Pick<SandboxSession, 'files'>,
  path: string,
): Promise<string | ToolResult> {
  try {
    const checked = await checkPath(session.files, path);
    if (checked.kind === 'refused') return failed(checked.text);
    return checked.info.kind === 'missing' ? failed(missingPathText(checked.path)) : checked.path;
  } catch (error) {
    return failed(fileErrorText(error, path));
  }
}

function failed(text: string): ToolResult {
  return { ok: false, text };
}
