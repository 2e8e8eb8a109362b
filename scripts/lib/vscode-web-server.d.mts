export interface VscodeWeb {
  /** Where it is installed. */
  readonly folder: string;
  /** A Node that it runs on. */
  readonly node: string;
  /** code-server's program for that Node. */
  readonly entry: string;
  readonly chromium: string | undefined;
}

export interface ServerOptions {
  /** Profile: settings, state, logs. */
  readonly userData: string;
  readonly extensions: string;
  /** `ask`: folders are not trusted before the user says so (Restricted Mode). */
  readonly trust: 'ask' | 'all';
  /** 0 or absent: a free one. */
  readonly port?: number;
  readonly env?: NodeJS.ProcessEnv;
}

export interface VscodeWebServer {
  /** Without a slash at its end; `?folder=` opens a folder. */
  readonly url: string;
  log(): string;
  readonly exited: Promise<number | null>;
  /** Ends it with its extension hosts. */
  close(): Promise<void>;
}

export function installExtension(
  vscode: VscodeWeb,
  vsix: string,
  folders: { readonly extensions: string; readonly userData: string },
): Promise<void>;

export function startVscodeWeb(vscode: VscodeWeb, options: ServerOptions): Promise<VscodeWebServer>;
