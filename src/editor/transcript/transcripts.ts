import type * as vscode from 'vscode';
import { trajectoriesRoot } from '../../core/trajectories/folder.ts';
import type { CommandId } from '../contract/commands.ts';
import type { AttemptReference, TranscriptPort } from '../ports.ts';
import { testName } from '../support/attempt-words.ts';
import { lazy } from '../support/lazy.ts';
import { showMessage } from '../support/messages.ts';
import {
  readTranscriptUri,
  TRANSCRIPT_SCHEME,
  type TranscriptAddress,
  transcriptUri,
} from './transcript-uri.ts';

/** Records as read-only documents that grow while their attempt goes on. */
export interface Transcripts extends TranscriptPort, vscode.Disposable {
  /** As a click in a list does it: in this group's preview tab, with the focus. */
  show(record: Pick<AttemptReference, 'trajectoryPath'>): Promise<void>;
  /** The same record again, with nothing left out. Without a URI (or its text): of the active editor. */
  showWhole(uri: unknown): Promise<void>;
  /** Records may have changed: open documents follow. */
  refresh(): Promise<void>;
}

const SHOW_WHOLE: CommandId = 'primeAgent.showWholeTranscript';

/** @param follow called when there is a document that may change: whoever calls `refresh` begins to watch */
export function createTranscripts(
  vs: typeof vscode,
  environment: Readonly<Record<string, string | undefined>>,
  follow: () => void,
): Transcripts {
  const root = trajectoriesRoot(environment);
  const records = lazy(() => import('./record-text.ts'));
  const changed = new vs.EventEmitter<vscode.Uri>();
  /** Of open documents, by URI: what their record was when they were read. */
  const stamps = new Map<string, string>();

  const textOf = async (address: TranscriptAddress) => {
    const { recordText } = await records();
    const { whole, path } = address;
    return recordText(path, { l10n: vs.l10n, whole, formatTime: timeFormat(vs) });
  };

  const open = async (
    path: string,
    whole: boolean,
    how: vscode.TextDocumentShowOptions,
  ): Promise<void> => {
    try {
      const { targets } = await textOf({ path, whole });
      const [target = ''] = targets;
      const title = vs.l10n.t('Transcript of {0}', testName(target));
      const uri = transcriptUri(vs, root, { path, whole }, title);
      if (!uri) throw new Error(vs.l10n.t('{0} is not in {1}', path, root));
      await vs.window.showTextDocument(await vs.workspace.openTextDocument(uri), how);
    } catch (error) {
      void showMessage(vs, 'error', unreadable(vs, error));
    }
  };

  const provider: vscode.TextDocumentContentProvider = {
    onDidChange: changed.event,
    async provideTextDocumentContent(uri) {
      const address = readTranscriptUri(root, uri);
      if (!address) return vs.l10n.t('This address names no record of an attempt.');
      follow();
      const { recordStamp } = await records();
      stamps.set(uri.toString(), await recordStamp(address.path));
      try {
        return (await textOf(address)).text;
      } catch (error) {
        return unreadable(vs, error);
      }
    },
  };

  const links: vscode.DocumentLinkProvider = {
    async provideDocumentLinks(document) {
      const { showEverything } = await import('./render.ts');
      return linksIn(vs, document, showEverything(vs.l10n));
    },
  };

  const parts = vs.Disposable.from(
    vs.workspace.registerTextDocumentContentProvider(TRANSCRIPT_SCHEME, provider),
    vs.languages.registerDocumentLinkProvider({ scheme: TRANSCRIPT_SCHEME }, links),
    vs.workspace.onDidCloseTextDocument(({ uri }) => stamps.delete(uri.toString())),
    changed,
  );

  return {
    open: ({ trajectoryPath }) =>
      open(trajectoryPath, false, {
        viewColumn: vs.ViewColumn.Beside,
        preserveFocus: true,
        preview: true,
      }),
    show: ({ trajectoryPath }) => open(trajectoryPath, false, { preview: true }),
    async showWhole(given) {
      const uri =
        typeof given === 'string'
          ? vs.Uri.parse(given)
          : given instanceof vs.Uri
            ? given
            : vs.window.activeTextEditor?.document.uri;
      const address = uri && readTranscriptUri(root, uri);
      if (!address) {
        void showMessage(vs, 'information', vs.l10n.t('Open the transcript of an attempt first.'));
        return;
      }
      await open(address.path, true, { preview: true });
    },
    async refresh() {
      for (const { uri } of vs.workspace.textDocuments) {
        const address = readTranscriptUri(root, uri);
        const before = stamps.get(uri.toString());
        if (!address || before === undefined) continue;
        const { recordStamp } = await records();
        if ((await recordStamp(address.path)) !== before) changed.fire(uri);
      }
    },
    dispose: () => parts.dispose(),
  };
}

/** *Show everything* where something was left out. */
function linksIn(
  vs: typeof vscode,
  document: Pick<vscode.TextDocument, 'uri' | 'getText'>,
  text: string,
): vscode.DocumentLink[] {
  const lines = document.getText().split('\n');
  return lines.flatMap((line, at) => {
    if (!line.endsWith(` ${text}`)) return [];
    const range = new vs.Range(at, line.length - text.length, at, line.length);
    const given = encodeURIComponent(JSON.stringify([document.uri.toString()]));
    const link = new vs.DocumentLink(range, vs.Uri.parse(`command:${SHOW_WHOLE}?${given}`));
    link.tooltip = text;
    return [link];
  });
}

function unreadable({ l10n }: typeof vscode, error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
    return l10n.t('The record of this attempt is gone: it was deleted, or it was the oldest.');
  }
  const why = error instanceof Error ? error.message : String(error);
  return l10n.t('The record of the attempt cannot be read: {0}', why);
}

function timeFormat(vs: typeof vscode): (time: Date) => string {
  const format = new Intl.DateTimeFormat(vs.env.language, {
    dateStyle: 'medium',
    timeStyle: 'medium',
  });
  return (time) => format.format(time);
}
