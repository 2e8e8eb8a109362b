import type * as vscode from 'vscode';
import { renderEvidence } from './evidence.ts';
import type { Review, ReviewedFile } from './model.ts';

export const REVIEW_SCHEME = 'prime-agent-review';

type Side = 'before' | 'after' | 'evidence' | 'patch';

/** The texts of reviews that are no files: what files would become, summaries, patches. */
export interface ReviewDocuments extends vscode.Disposable {
  /** Both sides of a diff. The left one is the file itself where it is a text. */
  sides(file: ReviewedFile): { readonly before: vscode.Uri; readonly after: vscode.Uri };
  evidence(review: Review): vscode.Uri;
  patch(file: ReviewedFile): vscode.Uri;
  /** The file of a `sides().after`. */
  fileOf(uri: vscode.Uri): ReviewedFile | undefined;
  /** Their texts may be others now. */
  refresh(reviews: readonly Review[]): void;
}

/** @param reviews all that can be asked for */
export function createReviewDocuments(
  vs: typeof vscode,
  reviews: () => readonly Review[],
): ReviewDocuments {
  const changed = new vs.EventEmitter<vscode.Uri>();
  const shown = new Map<string, string>();

  // The same path as the file's: a diff of two paths would be shown as a renaming.
  const uriOf = (review: Review, side: Side, path: string): vscode.Uri =>
    vs.Uri.joinPath(review.input.folder.uri, path).with({
      scheme: REVIEW_SCHEME,
      authority: '',
      query: `${side}&${review.id}`,
    });

  const find = (uri: vscode.Uri): { review: Review; side: string; path: string } | undefined => {
    if (uri.scheme !== REVIEW_SCHEME) return undefined;
    const at = uri.query.indexOf('&');
    const review = reviews().find(({ id }) => id === uri.query.slice(at + 1));
    if (!review) return undefined;
    const path = uri.path.slice(review.input.folder.uri.path.length).replace(/^\/+/, '');
    return { review, side: uri.query.slice(0, at), path };
  };
  const fileIn = (review: Review, path: string): ReviewedFile | undefined =>
    review.files.find(({ file }) => file.path === path);

  const textOf = (uri: vscode.Uri): string => {
    const found = find(uri);
    if (!found) return vs.l10n.t('This review is over.');
    const { review, side, path } = found;
    if (side === 'evidence') return renderEvidence(vs, review);
    const file = fileIn(review, path.replace(/\.patch$/, '')) ?? fileIn(review, path);
    if (side === 'patch') return file?.part.patch ?? '';
    if (side === 'before') return file?.preview?.before ?? '';
    return file?.view.proposed ?? '';
  };

  const registration = vs.workspace.registerTextDocumentContentProvider(REVIEW_SCHEME, {
    onDidChange: changed.event,
    provideTextDocumentContent(uri) {
      const text = textOf(uri);
      shown.set(uri.toString(), text);
      return text;
    },
  });

  const documents: ReviewDocuments = {
    sides(file) {
      const isFile = file.content.kind === 'text' && file.view.now.kind === 'file';
      return {
        before: isFile ? file.uri : uriOf(file.review, 'before', file.file.path),
        after: uriOf(file.review, 'after', file.file.path),
      };
    },
    evidence: (review) => uriOf(review, 'evidence', `${vs.l10n.t('Summary and tests')}.md`),
    patch: (file) => uriOf(file.review, 'patch', `${file.file.path}.patch`),
    fileOf(uri) {
      const found = find(uri);
      return found?.side === 'after' ? fileIn(found.review, found.path) : undefined;
    },
    refresh(given) {
      const uris = given.flatMap((review) => [
        documents.evidence(review),
        ...review.files.map((file) => uriOf(review, 'after', file.file.path)),
      ]);
      for (const uri of uris) {
        const before = shown.get(uri.toString());
        if (before !== undefined && before !== textOf(uri)) changed.fire(uri);
      }
    },
    dispose() {
      registration.dispose();
      changed.dispose();
    },
  };
  return documents;
}
