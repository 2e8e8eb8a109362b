import type { BlobStore } from '../store/blobs.ts';
import type { StoredTask } from '../store/tasks.ts';
import type { WorkTask } from './messages.ts';

export function workTask({ id, spec, blob }: StoredTask, trees: BlobStore): WorkTask {
  return { id, spec, archive: trees.pathOf(blob) };
}
