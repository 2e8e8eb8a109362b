import { TOOLBOX, WORKSPACE } from './sandbox.ts';
import { StreamReplacer } from './supervisor/output.ts';
import type { PathMapping } from './supervisor/supervisor-client.ts';

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * Paths as seen inside, where nothing can be mounted: `/workspace`, the user's own path and the
 * toolbox stand for folders of the host, in commands and back in their output.
 */
export function createPathMapping(folders: {
  readonly layer: string;
  readonly toolbox: string;
  readonly workspacePath: string;
}): PathMapping {
  const targets = new Map([
    [WORKSPACE, folders.layer],
    [TOOLBOX, folders.toolbox],
    [folders.workspacePath.replace(/(.)\/+$/, '$1'), folders.layer],
  ]);
  const names = [...targets.keys()].sort((a, b) => b.length - a.length).map(literally);
  // A whole path prefix: not the end of another path in front, not the beginning of another name
  // behind. `-I/workspace/include` counts.
  const pattern = new RegExp(
    `(?<=^|[^\\w./~}\\\\-]|(?:^|\\s)-[A-Za-z])(?:${names.join('|')})(?![\\w-]|\\.[\\w])`,
    'g',
  );
  return {
    toHost: (text) => text.replace(pattern, (found) => targets.get(found) ?? found),
    fromHost: () =>
      new StreamReplacer([
        [folders.layer, WORKSPACE],
        [folders.toolbox, TOOLBOX],
      ]),
  };
}
