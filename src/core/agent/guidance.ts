import type { WorkspaceFiles } from '../frameworks/framework.ts';

/** Where repositories tell agents and people how to work in them, most specific first. */
const GUIDES = [
  'AGENTS.md',
  '.github/AGENTS.md',
  'CLAUDE.md',
  '.github/copilot-instructions.md',
  'CONTRIBUTING.md',
];

/** Characters: guidance must not crowd out the failure itself. */
const LIMIT = 2_000;

const RELEVANT = /\b(test|tests|testing|style|lint|format|build|convention|code)\b/i;

/**
 * The repository's own hints, cut to what fits. AGENTS.md is taken whole (it is written for us); of
 * CONTRIBUTING.md only the sections whose heading speaks of tests, style or code.
 */
export async function readGuidance(
  workspace: Pick<WorkspaceFiles, 'readText'>,
): Promise<string | undefined> {
  for (const path of GUIDES) {
    const text = await workspace.readText(path);
    if (!text?.trim()) continue;
    const wanted = path.endsWith('CONTRIBUTING.md') ? relevantSections(text) : text.trim();
    if (wanted) return cut(wanted);
  }
  return undefined;
}

function relevantSections(markdown: string): string {
  const sections = markdown.split(/^(?=#{1,6} )/m);
  return sections
    .filter((section) => RELEVANT.test(section.split('\n', 1)[0] ?? ''))
    .map((section) => section.trim())
    .join('\n\n');
}

function cut(text: string): string {
  if (text.length <= LIMIT) return text;
  const end = text.lastIndexOf('\n', LIMIT);
  return `${text.slice(0, end > 0 ? end : LIMIT)}\n[… the rest is left out …]`;
}
