import { URI, Utils } from 'vscode-uri';

/** The values of the editor's interface, as far as the extension uses them. */

export const Uri = Object.assign(URI, { joinPath: Utils.joinPath });

export class Position {
  readonly line: number;
  readonly character: number;
  constructor(line: number, character: number) {
    if (line < 0 || character < 0) throw new Error('illegal argument: a position is not negative');
    this.line = line;
    this.character = character;
  }
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(a: number | Position, b: number | Position, c?: number, d?: number) {
    this.start = a instanceof Position ? a : new Position(a, b as number);
    this.end = b instanceof Position ? b : new Position(c ?? 0, d ?? 0);
  }
}

export class Location {
  readonly uri: URI;
  readonly range: Range;
  constructor(uri: URI, at: Range | Position) {
    this.uri = uri;
    this.range = at instanceof Range ? at : new Range(at, at);
  }
}

export class Disposable {
  readonly #dispose: () => unknown;
  constructor(dispose: () => unknown) {
    this.#dispose = dispose;
  }
  static from(...parts: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const part of parts) part.dispose();
    });
  }
  dispose(): void {
    this.#dispose();
  }
}

export class EventEmitter<Value> {
  readonly #listeners = new Set<(value: Value) => unknown>();
  readonly event = (listener: (value: Value) => unknown): Disposable => {
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };
  fire(value: Value): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class CancellationTokenSource {
  readonly #requested = new EventEmitter<void>();
  readonly token = {
    isCancellationRequested: false,
    onCancellationRequested: this.#requested.event,
  };
  cancel(): void {
    if (this.token.isCancellationRequested) return;
    this.token.isCancellationRequested = true;
    this.#requested.fire();
  }
  dispose(): void {
    this.#requested.dispose();
  }
}

export class TestMessage {
  message: string;
  expectedOutput?: string;
  actualOutput?: string;
  location?: Location;
  stackTrace?: TestMessageStackFrame[];
  constructor(message: string) {
    this.message = message;
  }
  static diff(message: string, expected: string, actual: string): TestMessage {
    return Object.assign(new TestMessage(message), {
      expectedOutput: expected,
      actualOutput: actual,
    });
  }
}

export class TestMessageStackFrame {
  readonly label: string;
  readonly uri: URI | undefined;
  readonly position: Position | undefined;
  constructor(label: string, uri?: URI, position?: Position) {
    this.label = label;
    this.uri = uri;
    this.position = position;
  }
}

export class TestRunRequest {}

export class Diagnostic {
  source?: string;
  readonly range: Range;
  readonly message: string;
  readonly severity: number;
  constructor(range: Range, message: string, severity: number) {
    this.range = range;
    this.message = message;
    this.severity = severity;
  }
}

export class CodeLens {
  readonly range: Range;
  readonly command: unknown;
  constructor(range: Range, command: unknown) {
    this.range = range;
    this.command = command;
  }
}

export class DocumentLink {
  tooltip?: string;
  readonly range: Range;
  readonly target: URI;
  constructor(range: Range, target: URI) {
    this.range = range;
    this.target = target;
  }
}

export class CodeAction {
  command?: unknown;
  diagnostics?: Diagnostic[];
  readonly title: string;
  readonly kind: unknown;
  constructor(title: string, kind: unknown) {
    this.title = title;
    this.kind = kind;
  }
}

export class ThemeIcon {
  static readonly File = new ThemeIcon('file');
  readonly id: string;
  readonly color: ThemeColor | undefined;
  constructor(id: string, color?: ThemeColor) {
    this.id = id;
    this.color = color;
  }
}

export class ThemeColor {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 } as const;

export class TreeItem {
  label: unknown;
  resourceUri?: URI;
  collapsibleState: number | undefined;
  constructor(labelOrUri: unknown, collapsibleState?: number) {
    if (labelOrUri instanceof URI) this.resourceUri = labelOrUri;
    else this.label = labelOrUri;
    this.collapsibleState = collapsibleState;
  }
}

export class MarkdownString {
  value = '';
  appendCodeblock(code: string, language = ''): this {
    this.value += `\n\`\`\`${language}\n${code}\n\`\`\`\n`;
    return this;
  }
}

export class RelativePattern {
  readonly base: unknown;
  readonly pattern: string;
  constructor(base: unknown, pattern: string) {
    this.base = base;
    this.pattern = pattern;
  }
}

export class TabInputTextDiff {
  readonly original: URI;
  readonly modified: URI;
  constructor(original: URI, modified: URI) {
    this.original = original;
    this.modified = modified;
  }
}

export type Edit =
  | { readonly kind: 'replace'; readonly uri: URI; readonly range: Range; readonly text: string }
  | { readonly kind: 'create'; readonly uri: URI; readonly contents: Uint8Array }
  | { readonly kind: 'delete'; readonly uri: URI };

export class WorkspaceEdit {
  readonly edits: Edit[] = [];
  replace(uri: URI, range: Range, text: string): void {
    this.edits.push({ kind: 'replace', uri, range, text });
  }
  createFile(uri: URI, options: { readonly contents?: Uint8Array }): void {
    this.edits.push({ kind: 'create', uri, contents: options.contents ?? new Uint8Array() });
  }
  deleteFile(uri: URI): void {
    this.edits.push({ kind: 'delete', uri });
  }
}
