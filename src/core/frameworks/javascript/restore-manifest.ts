import { applyEdits, type JSONPath, modify, type ParseError, parse } from 'jsonc-parser';

/** Top-level keys of package.json that configure test runners, coverage or the version of Node. */
const STEERING_KEYS = new Set([
  'jest',
  'vitest',
  'mocha',
  'ava',
  'tap',
  'nyc',
  'c8',
  'tsx',
  'babel',
  'volta',
]);

/** package.json with the keys that steer tests as they were in `before`. */
export function restoreManifest(before: string | undefined, after: string): string {
  const old = readObject(before);
  const now = readObject(after);
  // Not JSON any more: nothing of it can be told apart. What was there before is safe.
  if (!now) return before ?? after;
  let text = after;
  for (const path of steeringPaths(old, now)) {
    const value = valueAt(old, path);
    if (same(value, valueAt(now, path))) continue;
    text = applyEdits(text, modify(text, path, value, { formattingOptions: formattingOf(text) }));
  }
  return text;
}

type Manifest = Readonly<Record<string, unknown>>;

function readObject(text: string | undefined): Manifest | undefined {
  if (text === undefined) return undefined;
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\uFEFF/, ''), errors);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return errors.length === 0 && isObject ? (value as Manifest) : undefined;
}

function steeringPaths(old: Manifest | undefined, now: Manifest): readonly JSONPath[] {
  const names = (value: unknown): readonly string[] =>
    typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const scripts = new Set([...names(old?.scripts), ...names(now.scripts)]);
  const reached = scriptsOfTests(old?.scripts);
  const steering = [...scripts].filter((name) => isTestScript(name) || reached.has(name));
  const keys = [...STEERING_KEYS].filter((key) => key in now || (old !== undefined && key in old));
  // What tests import by `#name` must stay what it was; new names may be added.
  const imports = names(old?.imports).map((name) => ['imports', name]);
  return [...steering.map((name) => ['scripts', name]), ...keys.map((key) => [key]), ...imports];
}

function isTestScript(name: string): boolean {
  return /^(?:pre|post)?test(?:$|[:._-])/.test(name);
}

/** Scripts that the test scripts run by name. */
function scriptsOfTests(scripts: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  if (typeof scripts !== 'object' || scripts === null) return found;
  const all = scripts as Readonly<Record<string, unknown>>;
  const queue = Object.keys(all).filter(isTestScript);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const script = all[name];
    if (typeof script !== 'string') continue;
    for (const [, inner = ''] of script.matchAll(
      /\b(?:npm|pnpm|yarn)\s+(?:run\s+)?(?:-\S+\s+)*([\w:.-]+)/g,
    )) {
      for (const next of [inner, `pre${inner}`, `post${inner}`]) {
        if (!(next in all) || found.has(next)) continue;
        found.add(next);
        queue.push(next);
      }
    }
  }
  return found;
}

function valueAt(value: Manifest | undefined, path: JSONPath): unknown {
  let found: unknown = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string, unknown>)[String(key)];
  }
  return found;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function formattingOf(text: string) {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
