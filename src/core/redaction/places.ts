/**
 * Paths and names of the user's machine, made the same on every machine: the workspace becomes
 * `/workspace`, home `/home/user`, the user `user`, the host `host`.
 */

export interface PlaceOptions {
  /** Absolute path of the user's workspace. */
  readonly workspacePath?: string;
  /** Other absolute paths that mean the workspace (through a symbolic link, a snapshot's folder). */
  readonly workspaceAliases?: readonly string[];
  readonly home?: string;
  /** Other absolute paths that mean home. */
  readonly homeAliases?: readonly string[];
  readonly userName?: string;
  readonly hostName?: string;
}

const CANONICAL_WORKSPACE = '/workspace';
const CANONICAL_HOME = '/home/user';
const CANONICAL_USER = 'user';
const CANONICAL_HOST = 'host';

/** Names that say nothing about a person, or are words of code and prose. Lower case. */
const COMMON_NAMES: ReadonlySet<string> = new Set(
  `root user users node test tests admin administrator ubuntu debian fedora centos alpine arch
  vagrant docker container runner builder build jenkins gitlab github circleci travis codespace
  codespaces vscode gitpod coder deploy deployer guest developer devel default python java ruby
  golang rust main data code work home nobody daemon service server client local localhost
  localdomain localhost.localdomain name names host hostname public private system staff demo
  example agent prime workspace workspaces project projects student lab pi app apps web www mail
  macbook laptop desktop computer machine windows linux ubuntu-desktop worker master primary
  will mark grant rich case chase dean lane rose page bill jack cash drew dale glen hope faith grace
  joy rob bob pat sue art ray guy max may june april august dawn eve ivy lily olive pearl ruby
  amber crystal penny miles wade reed heath cliff forest brook stone banks wells ford price
  king prince duke earl baron bishop pope abbot cook baker mason carter hunter fisher parker
  skip buck chip drake hank josh wolf fox hawk robin jay martin field fields link path file files
  time date list item items text type value values index error print read write open close begin
  start stop next prev first last left right line lines func function class object model view
  render response request result results return state store store1 token tokens user1 user2`
    .trim()
    .split(/\s+/),
);

/** Shorter names are replaced only where their place says that they are names. */
const MIN_WHOLE_WORD = 4;

export type Replacement = readonly [expression: RegExp, replacement: string];

/** In the order in which they are applied: longest path first, then the names. */
export function placeReplacements(options: PlaceOptions): readonly Replacement[] {
  const paths: [string, string][] = [];
  for (const path of [options.workspacePath, ...(options.workspaceAliases ?? [])]) {
    if (path) paths.push([path, CANONICAL_WORKSPACE]);
  }
  for (const path of [options.home, ...(options.homeAliases ?? [])]) {
    if (path) paths.push([path, CANONICAL_HOME]);
  }
  const replacements: Replacement[] = paths
    .map(([path, canonical]) => [trimSlash(path), canonical] as const)
    .filter(([path, canonical]) => path.length > 1 && path !== canonical)
    .sort(([a], [b]) => b.length - a.length)
    .flatMap(([path, canonical]) =>
      pathForms(path).map((form) => pathReplacement(form, canonical)),
    );
  if (options.userName) replacements.push(...userReplacements(options.userName));
  if (options.hostName) replacements.push(...hostReplacements(options.hostName));
  return replacements;
}

function trimSlash(path: string): string {
  return path.replace(/[\\/]+$/, '');
}

/** As written, percent-encoded (file URLs), and on Windows with either slash, doubled in JSON. */
function pathForms(path: string): readonly string[] {
  const forms = new Set([path, path.split('/').map(encodeURIComponent).join('/')]);
  forms.add(encodeURI(path));
  if (path.includes('\\')) {
    forms.add(path.replaceAll('\\', '\\\\'));
    forms.add(path.replaceAll('\\', '/'));
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

function pathReplacement(form: string, canonical: string): Replacement {
  // A path of one or two parts may be the end of another path: `/root` in `lib/root`. Allowed in
  // front: nothing, no part of a path, an option letter (`-I/root`), an escaped line break.
  const specific = form.split(/[\\/]+/).filter(Boolean).length >= 3;
  const before = specific ? '' : '(?:(?<![\\w.@~-])|(?<=\\s-[A-Za-z])|(?<=\\\\[nrt]))';
  return [new RegExp(`${before}${escapeRegExp(form)}(?![\\w-]|\\.\\w)`, 'g'), canonical];
}

function userReplacements(name: string): readonly Replacement[] {
  if (name === CANONICAL_USER) return [];
  const escaped = escapeRegExp(name);
  const replacements: Replacement[] = [
    [new RegExp(`(?<=[\\\\/](?:home|Users)[\\\\/]+)${escaped}(?![\\w-])`, 'g'), CANONICAL_USER],
    // name@host, but not a decorator (`@name`) and not a package scope.
    [new RegExp(`(?<![\\w.+-])${escaped}(?=@[A-Za-z0-9])`, 'g'), CANONICAL_USER],
  ];
  if (isSafeName(name)) {
    replacements.push([wholeWord(escaped), CANONICAL_USER]);
  }
  return replacements;
}

function hostReplacements(name: string): readonly Replacement[] {
  const replacements: Replacement[] = [];
  const short = name.split('.')[0] ?? name;
  for (const form of new Set([name, short])) {
    if (form === CANONICAL_HOST || form === '' || form.toLowerCase() === 'localhost') continue;
    const escaped = escapeRegExp(form);
    // Names of hosts are the same in upper case.
    replacements.push([new RegExp(`(?<=\\w@)${escaped}(?![\\w-])`, 'gi'), CANONICAL_HOST]);
    if (isSafeName(form)) replacements.push([wholeWord(escaped, 'gi'), CANONICAL_HOST]);
  }
  return replacements;
}

function isSafeName(name: string): boolean {
  return (
    name.length >= MIN_WHOLE_WORD && !COMMON_NAMES.has(name.toLowerCase()) && !/^\d+$/.test(name)
  );
}

/** `_` joins words in paths and identifiers alike; there the name still names its owner. */
function wholeWord(escaped: string, flags = 'g'): RegExp {
  return new RegExp(`(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`, flags);
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
