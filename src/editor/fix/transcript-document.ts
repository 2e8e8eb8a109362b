import type * as vscode from 'vscode';
import { readTrajectory } from '../../core/trajectories/reader.ts';
import { toMarkdown } from '../../core/trajectories/transcript.ts';
import type { AttemptReference } from '../ports.ts';
import type { VirtualDocuments } from '../support/virtual-documents.ts';

/** The record of an attempt as one Markdown document. */
export async function openTranscriptDocument(
  vs: typeof vscode,
  documents: VirtualDocuments,
  { attemptId, trajectoryPath }: Pick<AttemptReference, 'attemptId' | 'trajectoryPath'>,
): Promise<void> {
  try {
    await documents.open(`${attemptId}.md`, toMarkdown(await readTrajectory(trajectoryPath)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void vs.window.showErrorMessage(
      vs.l10n.t('The record of the attempt cannot be read: {0}', why),
    );
  }
}
