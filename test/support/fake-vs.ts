import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as vscode from 'vscode';
import type { URI } from 'vscode-uri';
import manifest from '../../package.json' with { type: 'json' };
import type { Edit } from './fake-vs-values.ts';
import * as values from './fake-vs-values.ts';

/**
 * A stand-in for the editor: it keeps what it is shown, and answers as the test's `user` says.
 * It holds only what the extension uses; add what is missing, in the same plain way.
 */
export interface FakeVs {
  readonly vs: typeof vscode;
  /** Who sits in front of it. By default every question is closed without an answer. */
  readonly user: FakeUser;
  readonly messages: FakeMessage[];
  readonly log: string[];
  readonly progress: string[];
  readonly contexts: Map<string, unknown>;
  /** Commands that were run and are not registered here: the editor's own. */
  readonly executed: { readonly id: string; readonly args: readonly unknown[] }[];
  readonly statusBar: { text: string; tooltip?: string; command?: string };
  readonly terminals: FakeTerminal[];
  readonly testRuns: FakeTestRun[];
  readonly diagnostics: Map<string, readonly values.Diagnostic[]>;
  readonly documents: FakeDocument[];
  readonly shown: FakeDocument[];
  /** How `shown` was shown, one by one. */
  readonly shownHow: (vscode.TextDocumentShowOptions | undefined)[];
  readonly links: vscode.DocumentLinkProvider[];
  readonly clipboard: string[];
  readonly lenses: vscode.CodeLensProvider[];
  readonly actions: vscode.CodeActionProvider[];
  readonly settings: Map<string, unknown>;
  readonly trees: Map<string, FakeTree>;
  /** Labels of tabs that were opened with `vscode.changes` or `vscode.diff` and not closed. */
  readonly tabs: { readonly label: string; readonly input: unknown }[];
  /** Replaces the text of a file in its editor, without saving it. */
  type(path: string, text: string): Promise<void>;
  /** Saves what is in the editor of a file. */
  save(path: string): Promise<void>;
  /** Tells what is watching files that one has changed; its document is read again. */
  changedOnDisk(path: string): void;
  /** Makes the next edit fail, or happen only in part. */
  refuseEdits: 'never' | 'once';
  /** Cancels the progress that is shown now. */
  cancelProgress(): void;
  /** A file of the disk, opened in an editor with the cursor in a line (0-based). */
  openEditor(path: string, line?: number): FakeDocument;
  /** The folder leaves the workspace. */
  removeFolder(path: string): void;
  /** Somebody works in a file. */
  moveCursor(path: string): void;
  run(command: string, ...args: readonly unknown[]): Promise<unknown>;
  extensions: Record<string, { isActive: boolean; exports: unknown }>;
  trusted: boolean;
}

export interface FakeUser {
  pick(
    items: readonly vscode.QuickPickItem[],
    options: vscode.QuickPickOptions,
  ):
    | readonly vscode.QuickPickItem[]
    | undefined
    | Promise<readonly vscode.QuickPickItem[] | undefined>;
  input(options: vscode.InputBoxOptions): string | undefined;
  /** Absolute path of the file that is saved to. */
  saveTo(options: vscode.SaveDialogOptions): string | undefined;
  /** The title of the action that is chosen. */
  answer(message: FakeMessage): string | undefined;
}

export interface FakeMessage {
  readonly level: 'information' | 'warning' | 'error';
  readonly text: string;
  readonly modal: boolean;
  readonly actions: readonly string[];
}

export interface FakeTerminal {
  readonly name: string;
  text: string;
  /** `show(true)`: the focus stays where it is. */
  readonly shown: { readonly preserveFocus: boolean }[];
  disposed: boolean;
}

export interface FakeTestRun {
  readonly name: string;
  readonly results: Map<string, { readonly state: string; readonly message?: values.TestMessage }>;
  ended: boolean;
}

export interface FakeTree {
  readonly provider: vscode.TreeDataProvider<unknown>;
  readonly view: { badge?: unknown; message?: string; selection: readonly unknown[] };
  readonly revealed: unknown[];
}

export interface FakeDocument {
  readonly uri: URI;
  text: string;
  isDirty: boolean;
}

export interface FakeVsOptions {
  /** Absolute paths, or URIs of other kinds. */
  readonly folders?: readonly string[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly trusted?: boolean;
}

export function createFakeVs(options: FakeVsOptions = {}): FakeVs {
  const folders = (options.folders ?? []).map((path, index) => {
    const uri = path.includes('://') ? values.Uri.parse(path) : values.Uri.file(path);
    return { uri, name: uri.path.slice(uri.path.lastIndexOf('/') + 1), index };
  });
  const registered = new Map<string, (...args: readonly unknown[]) => unknown>();
  const configured = new values.EventEmitter<vscode.ConfigurationChangeEvent>();
  const closed = new values.EventEmitter<FakeDocument>();
  const changed = new values.EventEmitter<{ document: unknown }>();
  const saved = new values.EventEmitter<unknown>();
  const onDisk = new values.EventEmitter<URI>();
  const never = new values.EventEmitter<unknown>();
  const removed = new values.EventEmitter<vscode.WorkspaceFoldersChangeEvent>();
  const selected = new values.EventEmitter<vscode.TextEditorSelectionChangeEvent>();
  const providers = new Map<string, vscode.TextDocumentContentProvider>();
  let progress: values.CancellationTokenSource | undefined;
  let active: { document: unknown; selection: unknown } | undefined;

  const fake: Omit<FakeVs, 'vs'> = {
    user: {
      pick: () => undefined,
      input: () => undefined,
      saveTo: () => undefined,
      answer: () => undefined,
    },
    messages: [],
    log: [],
    progress: [],
    contexts: new Map(),
    executed: [],
    statusBar: { text: '' },
    terminals: [],
    testRuns: [],
    diagnostics: new Map(),
    documents: [],
    shown: [],
    shownHow: [],
    links: [],
    clipboard: [],
    lenses: [],
    actions: [],
    settings: new Map(Object.entries(options.settings ?? {})),
    trees: new Map(),
    tabs: [],
    refuseEdits: 'never',
    async type(path, text) {
      const document = documentOf(values.Uri.file(path));
      document.text = text;
      document.isDirty = true;
      changed.fire({ document: asTextDocument(document) });
    },
    async save(path) {
      await asTextDocument(documentOf(values.Uri.file(path))).save();
    },
    changedOnDisk(path) {
      const uri = values.Uri.file(path);
      const document = fake.documents.find((known) => String(known.uri) === String(uri));
      if (document && !document.isDirty && existsSync(path)) {
        document.text = readFileSync(path, 'utf8');
        changed.fire({ document: asTextDocument(document) });
      }
      onDisk.fire(uri);
    },
    extensions: {},
    trusted: options.trusted ?? true,
    cancelProgress: () => progress?.cancel(),
    openEditor(path, line = 0) {
      const document = documentOf(values.Uri.file(path));
      active = {
        document: asTextDocument(document),
        selection: { active: new values.Position(line, 0) },
      };
      return document;
    },
    removeFolder(path) {
      const at = folders.findIndex(({ uri }) => uri.path === path);
      removed.fire({ added: [], removed: folders.splice(at, 1) as never[] });
    },
    moveCursor(path) {
      const textEditor = { document: { uri: values.Uri.file(path) } };
      selected.fire({ kind: 1, textEditor } as vscode.TextEditorSelectionChangeEvent);
    },
    run: async (command, ...args) => {
      const handler = registered.get(command);
      if (!handler) throw new Error(`command '${command}' not found`);
      return handler(...args);
    },
  };

  const documentOf = (uri: URI, text?: string): FakeDocument => {
    const known = fake.documents.find((document) => String(document.uri) === String(uri));
    if (known) return known;
    const made = { uri, text: text ?? readFileSync(uri.fsPath, 'utf8'), isDirty: false };
    fake.documents.push(made);
    return made;
  };

  const message =
    (level: FakeMessage['level']) =>
    async (text: string, ...rest: readonly unknown[]): Promise<string | undefined> => {
      const [first, ...others] = rest;
      const hasOptions = typeof first === 'object' && first !== null;
      const modal = hasOptions && 'modal' in first && first.modal === true;
      const actions = (hasOptions ? others : rest).filter((item) => typeof item === 'string');
      const shown = { level, text, modal, actions };
      fake.messages.push(shown);
      const answer = fake.user.answer(shown);
      if (answer !== undefined && !actions.includes(answer)) {
        throw new Error(`the message has no action “${answer}”: ${actions.join(', ')}`);
      }
      return answer;
    };

  const window = {
    showInformationMessage: message('information'),
    showWarningMessage: message('warning'),
    showErrorMessage: message('error'),
    async showQuickPick(
      given: readonly (string | vscode.QuickPickItem)[],
      picking: vscode.QuickPickOptions = {},
      token?: vscode.CancellationToken,
    ) {
      const items = given.map((item) => (typeof item === 'string' ? { label: item } : item));
      const cancelled = new Promise<undefined>((resolve) => {
        token?.onCancellationRequested(() => resolve(undefined));
      });
      const picked = await Promise.race([fake.user.pick(items, picking), cancelled]);
      const chosen = (picked ?? []).map((item) => given[items.indexOf(item)]);
      if (picked === undefined) return undefined;
      return picking.canPickMany ? chosen : chosen[0];
    },
    createQuickPick: () => createQuickPick(fake.user),
    showInputBox: async (asking: vscode.InputBoxOptions) => {
      const typed = fake.user.input(asking);
      const refused = typed === undefined ? undefined : await asking.validateInput?.(typed);
      if (refused) throw new Error(`the input box refuses “${typed}”: ${String(refused)}`);
      return typed;
    },
    async withProgress(
      { title }: vscode.ProgressOptions,
      work: (
        progress: { report(value: { message?: string }): void },
        token: vscode.CancellationToken,
      ) => Promise<unknown>,
    ) {
      const source = new values.CancellationTokenSource();
      progress = source;
      fake.progress.push(title ?? '');
      const report = (value: { message?: string }): number =>
        fake.progress.push(`${title}: ${value.message}`);
      return work({ report }, source.token as unknown as vscode.CancellationToken);
    },
    createOutputChannel: () => {
      const line = (level: string) => (text: string) => fake.log.push(`${level} ${text}`);
      return {
        ...{ info: line('info'), warn: line('warn'), error: line('error'), debug: line('debug') },
        ...{ show: () => undefined, dispose: () => undefined },
      };
    },
    createStatusBarItem: () =>
      Object.assign(fake.statusBar, { show: () => undefined, dispose: () => undefined }),
    createTerminal: ({ name, pty }: vscode.ExtensionTerminalOptions) => {
      const terminal: FakeTerminal = { name, text: '', shown: [], disposed: false };
      fake.terminals.push(terminal);
      pty.onDidWrite((text) => {
        terminal.text += text;
      });
      return {
        show(preserveFocus = false) {
          if (terminal.shown.length === 0) pty.open(undefined);
          terminal.shown.push({ preserveFocus });
        },
        dispose() {
          terminal.disposed = true;
          pty.close();
        },
      };
    },
    setStatusBarMessage: (text: string) => {
      fake.log.push(`status ${text}`);
      return new values.Disposable(() => undefined);
    },
    createTreeView(
      id: string,
      { treeDataProvider }: { readonly treeDataProvider: vscode.TreeDataProvider<unknown> },
    ) {
      const revealed: unknown[] = [];
      const view: FakeTree['view'] = { selection: [] };
      fake.trees.set(id, { provider: treeDataProvider, view, revealed });
      return Object.assign(view, {
        reveal: async (element: unknown) => void revealed.push(element),
        dispose: () => fake.trees.delete(id),
        ...{ onDidChangeSelection: never.event, onDidChangeVisibility: never.event },
      });
    },
    tabGroups: {
      get all() {
        return [{ tabs: fake.tabs }];
      },
      get activeTabGroup() {
        return { activeTab: fake.tabs.at(-1) };
      },
      async close(tabs: readonly unknown[]) {
        const left = fake.tabs.filter((tab) => !tabs.includes(tab));
        fake.tabs.splice(0, fake.tabs.length, ...left);
      },
      onDidChangeTabs: never.event,
      onDidChangeTabGroups: never.event,
    },
    onDidChangeActiveTextEditor: never.event,
    onDidChangeTextEditorSelection: selected.event,
    get activeTextEditor() {
      return active;
    },
    async showSaveDialog(saving: vscode.SaveDialogOptions) {
      const path = fake.user.saveTo(saving);
      return path === undefined ? undefined : values.Uri.file(path);
    },
    async showTextDocument(document: { readonly uri: URI }, how?: vscode.TextDocumentShowOptions) {
      const found = fake.documents.find(({ uri }) => String(uri) === String(document.uri));
      if (found) {
        fake.shown.push(found);
        fake.shownHow.push(how);
      }
      return { document };
    },
  };

  const asTextDocument = (document: FakeDocument) => ({
    uri: document.uri,
    getText: () => document.text,
    get lineCount() {
      return document.text.split('\n').length;
    },
    get isDirty() {
      return document.isDirty;
    },
    validateRange: (range: values.Range) => range,
    save: async () => {
      writeFileSync(document.uri.fsPath, document.text);
      document.isDirty = false;
      saved.fire(asTextDocument(document));
      return true;
    },
  });

  const workspace = {
    get workspaceFolders() {
      return folders.length > 0 ? folders : undefined;
    },
    get isTrusted() {
      return fake.trusted;
    },
    getWorkspaceFolder: (uri: URI) =>
      folders.find(
        (folder) => uri.path === folder.uri.path || uri.path.startsWith(`${folder.uri.path}/`),
      ),
    fs: {
      isWritableFileSystem: () => true,
      writeFile: async (uri: URI, content: Uint8Array) => writeFileSync(uri.fsPath, content),
    },
    onDidChangeWorkspaceFolders: removed.event,
    getConfiguration: (prefix: string) => ({
      get: (name: string) => {
        const id = `${prefix}.${name}`;
        const declared: Record<string, { default?: unknown }> =
          manifest.contributes.configuration.properties;
        // The editor's own settings have no default here.
        if (prefix !== 'primeAgent') return fake.settings.get(id);
        if (!(id in declared)) throw new Error(`${id} is not in the manifest`);
        return fake.settings.has(id) ? fake.settings.get(id) : declared[id]?.default;
      },
      update: async (name: string, value: unknown) => {
        const id = `${prefix}.${name}`;
        fake.settings.set(id, value);
        configured.fire({ affectsConfiguration: (asked) => asked === id });
      },
    }),
    onDidChangeConfiguration: configured.event,
    onDidCloseTextDocument: closed.event,
    onDidChangeTextDocument: changed.event,
    onDidSaveTextDocument: saved.event,
    createFileSystemWatcher: () => {
      const ignore = () => new values.Disposable(() => undefined);
      return {
        ...{ onDidChange: onDisk.event, onDidCreate: ignore, onDidDelete: ignore },
        dispose: () => undefined,
      };
    },
    registerTextDocumentContentProvider(
      scheme: string,
      provider: vscode.TextDocumentContentProvider,
    ) {
      providers.set(scheme, provider);
      provider.onDidChange?.(async (uri) => {
        const open = fake.documents.find((known) => String(known.uri) === String(uri));
        const token = new values.CancellationTokenSource()
          .token as unknown as vscode.CancellationToken;
        if (open) open.text = (await provider.provideTextDocumentContent(uri, token)) ?? '';
      });
      return new values.Disposable(() => providers.delete(scheme));
    },
    get textDocuments() {
      return fake.documents.map(asTextDocument);
    },
    async openTextDocument(uri: URI) {
      const text = await providers
        .get(uri.scheme)
        ?.provideTextDocumentContent(
          uri as vscode.Uri,
          new values.CancellationTokenSource().token as unknown as vscode.CancellationToken,
        );
      return asTextDocument(documentOf(uri, text ?? undefined));
    },
    async applyEdit({ edits }: values.WorkspaceEdit) {
      if (fake.refuseEdits === 'once') {
        fake.refuseEdits = 'never';
        return false;
      }
      const texts = new Map<FakeDocument, (Edit & { kind: 'replace' })[]>();
      for (const edit of edits) {
        if (edit.kind !== 'replace') continue;
        const document = documentOf(edit.uri);
        texts.set(document, [...(texts.get(document) ?? []), edit]);
      }
      for (const [document, replacements] of texts) {
        document.text = replaced(document.text, replacements);
        document.isDirty = true;
        changed.fire({ document: asTextDocument(document) });
      }
      for (const edit of edits) {
        if (edit.kind === 'replace') continue;
        if (edit.kind === 'create') {
          mkdirSync(dirname(edit.uri.fsPath), { recursive: true });
          writeFileSync(edit.uri.fsPath, edit.contents);
        } else rmSync(edit.uri.fsPath);
      }
      return true;
    },
  };

  const commands = {
    registerCommand(id: string, handler: (...args: readonly unknown[]) => unknown) {
      if (registered.has(id)) throw new Error(`command '${id}' already exists`);
      registered.set(id, handler);
      return new values.Disposable(() => registered.delete(id));
    },
    async executeCommand(id: string, ...args: readonly unknown[]) {
      const handler = registered.get(id);
      if (handler) return handler(...args);
      if (id === 'setContext') fake.contexts.set(String(args[0]), args[1]);
      else fake.executed.push({ id, args });
      if (id === 'vscode.changes') fake.tabs.push({ label: String(args[0]), input: undefined });
      return undefined;
    },
  };

  const languages = {
    createDiagnosticCollection: () => ({
      set: (uri: URI, diagnostics: readonly values.Diagnostic[]) =>
        fake.diagnostics.set(uri.path, diagnostics),
      clear: () => fake.diagnostics.clear(),
      dispose: () => fake.diagnostics.clear(),
    }),
    registerDocumentLinkProvider(_selector: unknown, provider: vscode.DocumentLinkProvider) {
      fake.links.push(provider);
      return new values.Disposable(() => undefined);
    },
    registerCodeLensProvider(_selector: unknown, provider: vscode.CodeLensProvider) {
      fake.lenses.push(provider);
      return new values.Disposable(() => undefined);
    },
    registerCodeActionsProvider(_selector: unknown, provider: vscode.CodeActionProvider) {
      fake.actions.push(provider);
      return new values.Disposable(() => undefined);
    },
  };

  const vs = {
    ...values,
    window,
    workspace,
    commands,
    languages,
    tests: { createTestController: () => createController(fake.testRuns) },
    env: {
      language: 'en',
      clipboard: { writeText: async (text: string) => void fake.clipboard.push(text) },
    },
    ViewColumn: { Active: -1, Beside: -2 },
    extensions: { getExtension: (id: string) => fake.extensions[id] },
    l10n: { t: fillIn },
    ProgressLocation: { Notification: 15 },
    StatusBarAlignment: { Left: 1, Right: 2 },
    QuickPickItemKind: { Separator: -1, Default: 0 },
    ConfigurationTarget: { Global: 1, Workspace: 2 },
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    CodeActionKind: { QuickFix: 'quickfix' },
  };
  return Object.assign(fake, { vs: vs as unknown as typeof vscode });
}

/** Ranges are meant in the text before any of them; line breaks become those of the text. */
function replaced(
  text: string,
  edits: readonly { readonly range: values.Range; readonly text: string }[],
): string {
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const offset = ({ line, character }: values.Position): number => {
    if (line >= lines.length) return text.length;
    const before = lines.slice(0, line).reduce((sum, each) => sum + each.length + ending.length, 0);
    return before + character;
  };
  const sorted = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  return sorted.reduce(
    (result, { range, text: added }) =>
      result.slice(0, offset(range.start)) +
      added.replaceAll('\n', ending) +
      result.slice(offset(range.end)),
    text,
  );
}

function fillIn(text: string, ...args: readonly unknown[]): string {
  return text.replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)]));
}

function createQuickPick(user: FakeUser) {
  const accepted = new values.EventEmitter<void>();
  const hidden = new values.EventEmitter<void>();
  const list = {
    title: '',
    placeholder: '',
    busy: false,
    matchOnDescription: false,
    canSelectMany: false,
    ignoreFocusOut: false,
    activeItems: [] as readonly vscode.QuickPickItem[],
    items: [] as readonly vscode.QuickPickItem[],
    selectedItems: [] as readonly vscode.QuickPickItem[],
    onDidAccept: accepted.event,
    onDidHide: hidden.event,
    /** People read before they choose: until nothing more is looked for. */
    show() {
      const choose = async (): Promise<void> => {
        while (list.busy) await new Promise((resolve) => setTimeout(resolve, 5));
        const picked = await user.pick(list.items, { title: list.title });
        if (picked === undefined) return list.hide();
        list.selectedItems = picked;
        accepted.fire();
      };
      void choose();
    },
    hide: () => hidden.fire(),
    dispose: () => undefined,
  };
  return list;
}

interface FakeItem {
  readonly id: string;
  readonly label: string;
  readonly uri: URI | undefined;
  range?: values.Range;
  readonly children: FakeItems;
  parent?: FakeItem;
}

interface FakeItems extends Iterable<readonly [string, FakeItem]> {
  replace(items: readonly FakeItem[]): void;
  add(item: FakeItem): void;
  delete(id: string): void;
}

function createItems(parent?: FakeItem): FakeItems {
  const items = new Map<string, FakeItem>();
  const add = (item: FakeItem): void => {
    if (parent) item.parent = parent;
    items.set(item.id, item);
  };
  return {
    add,
    delete: (id) => void items.delete(id),
    replace(given) {
      const ids = given.map(({ id }) => id);
      const twice = ids.find((id, index) => ids.indexOf(id) !== index);
      if (twice !== undefined) throw new Error(`there are two items with the id ${twice}`);
      items.clear();
      for (const item of given) add(item);
    },
    [Symbol.iterator]: () => items[Symbol.iterator](),
  };
}

function createController(runs: FakeTestRun[]) {
  return {
    items: createItems(),
    createTestItem(id: string, label: string, uri?: URI) {
      const item = { id, label, uri } as FakeItem;
      return Object.assign(item, { children: createItems(item) });
    },
    createTestRun(_request: unknown, name: string) {
      const run: FakeTestRun = { name, results: new Map(), ended: false };
      runs.push(run);
      const state = (name: string) => (item: FakeItem, message?: unknown) => {
        const failure = message instanceof values.TestMessage ? { message } : {};
        run.results.set(item.id, { state: name, ...failure });
      };
      return {
        passed: state('passed'),
        failed: state('failed'),
        errored: state('errored'),
        skipped: state('skipped'),
        appendOutput: () => undefined,
        end() {
          run.ended = true;
        },
      };
    },
    dispose: () => undefined,
  };
}

/** Secrets and remembered values, as the extension's context has them. */
export function createFakeContext(extensionPath: string) {
  const secrets = new Map<string, string>();
  const state = new Map<string, unknown>();
  const subscriptions: { dispose(): unknown }[] = [];
  const memento = {
    get: (key: string) => state.get(key),
    update: async (key: string, value: unknown) => void state.set(key, value),
    keys: () => [...state.keys()],
  };
  const context = {
    subscriptions,
    secrets: {
      get: async (key: string) => secrets.get(key),
      store: async (key: string, value: string) => void secrets.set(key, value),
      delete: async (key: string) => void secrets.delete(key),
    },
    workspaceState: memento,
    globalState: memento,
    extension: { id: 'prime-agent.prime-agent' },
    globalStorageUri: values.Uri.file(`${extensionPath}/global`),
    asAbsolutePath: (path: string) => `${extensionPath}/${path}`,
  };
  return { context: context as unknown as vscode.ExtensionContext, secrets, state, subscriptions };
}
