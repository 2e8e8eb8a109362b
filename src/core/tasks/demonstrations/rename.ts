import { posix } from 'node:path';
import { editPatch } from '../edit-patch.ts';
import { applyEdit } from '../operators/edit.ts';
import { grammarOf } from '../operators/grammars.ts';
import type { Chance } from '../random.ts';
import { finishTask, type Task } from '../task.ts';
import { type FileTree, textTree, treeHash } from '../tree.ts';
import { newName, shapeOf } from './words.ts';

export interface RenamedTask {
  readonly task: Task;
  readonly tree: FileTree;
}

/** Names that mean something to the language, its library or the tests. */
const FIXED = new Set(
  [
    ...[
      Array,
      String,
      Object,
      Number,
      Math,
      Map,
      Set,
      WeakMap,
      Date,
      RegExp,
      Promise,
      JSON,
      Symbol,
    ],
    ...[Error, Function, Boolean, BigInt, Reflect, Proxy, console, globalThis],
    ...[
      Array,
      String,
      Object,
      Number,
      Map,
      Set,
      WeakMap,
      Date,
      RegExp,
      Promise,
      Error,
      Function,
    ].map(({ prototype }) => prototype as object),
  ].flatMap((owner) => Object.getOwnPropertyNames(owner)),
);
for (const name of [
  ...['constructor', 'undefined', 'arguments', 'assert', 'test', 'it', 'describe', 'default'],
  ...[
    'equal',
    'deepEqual',
    'throws',
    'strict',
    'ok',
    'notEqual',
    'index',
    'groups',
    'done',
    'value',
  ],
]) {
  FIXED.add(name);
}

const NAME_NODES = /^(?:Private)?(?:Variable|Property)(?:Name|Definition)$/;
const SCRIPT = /\.[cm]?js$/;

/**
 * The same task with other names for its variables, functions, properties and files, so that what
 * is learnt of it is to copy what stands there and not to know the templates by heart. It may have
 * become another one (names can be data): whoever uses it checks that its tests fail as it says.
 *
 * @param share of the names that change, 0 to 1
 */
export function renameTask(task: Task, tree: FileTree, chance: Chance, share: number): RenamedTask {
  const texts = new Map([...tree].map(([path, { content }]) => [path, content.toString('utf8')]));
  const names = chooseNames(texts, chance, share);
  const paths = choosePaths([...texts.keys()], chance);
  const files: Record<string, string> = {};
  const places = new Map<string, (at: number) => number>();
  for (const [path, text] of texts) {
    const newPath = paths.path(path);
    const renamed = SCRIPT.test(path)
      ? renameScript(text, names, paths)
      : { text: renameManifest(text, paths.specifiers), place: (at: number) => at };
    files[newPath] = renamed.text;
    places.set(path, renamed.place);
  }
  const moved = <Range extends { path: string; from: number; to: number }>(range: Range): Range => {
    const place = places.get(range.path) ?? ((at: number) => at);
    const [from, to] = [place(range.from), place(range.to)];
    return { ...range, path: paths.path(range.path), from, to };
  };
  const bug = moved(task.bug);
  const original = files[bug.path] ?? '';
  const oldText = original.slice(bug.from, bug.to);
  const newText = renameFragment(task.bug.newText, names);
  const broken = applyEdit(original, { ...bug, newText });
  const newTree = textTree(files);
  const id = (test: string): string => {
    const [path = '', ...rest] = test.split('::');
    const [suite = '', ...titles] = rest.join('::').split(' > ');
    const title = titles.length > 0 ? (paths.suites.get(suite) ?? suite) : suite;
    return `${paths.path(path)}::${[title, ...titles].join(' > ')}`;
  };
  const { id: _, version: __, ...draft } = task;
  return {
    tree: newTree,
    task: finishTask({
      ...draft,
      tree: treeHash(newTree),
      bug: { ...bug, oldText, newText },
      hiddenRanges: task.hiddenRanges.map(moved),
      visible: task.visible.map(id),
      hidden: task.hidden.map(id),
      targets: task.targets.map(id),
      passing: task.passing.map(id),
      patch: editPatch(bug.path, broken, original),
    }),
  };
}

type Names = ReadonlyMap<string, string>;

function chooseNames(texts: ReadonlyMap<string, string>, chance: Chance, share: number): Names {
  const found = new Set<string>();
  const taken = new Set(FIXED);
  for (const [path, text] of texts) {
    if (!SCRIPT.test(path)) continue;
    for (const { name } of namesIn(text)) {
      taken.add(name);
      // What only tests name is data: keys that the code makes out of texts.
      if (!path.startsWith('test/')) found.add(name);
    }
  }
  const names = new Map<string, string>();
  for (const name of [...found].sort()) {
    if (FIXED.has(name) || !chance.chance(share)) continue;
    for (let tries = 0; tries < 20; tries += 1) {
      const other = newName(shapeOf(name), chance);
      if (taken.has(other)) continue;
      taken.add(other);
      names.set(name, other);
      break;
    }
  }
  return names;
}

interface FoundName {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

function namesIn(text: string): readonly FoundName[] {
  const found: FoundName[] = [];
  grammarOf('javascript')
    .parse(text)
    .iterate({
      enter({ name: kind, from, to }) {
        if (!NAME_NODES.test(kind)) return;
        const sign = text[from] === '#' ? 1 : 0;
        found.push({ name: text.slice(from + sign, to), from: from + sign, to });
      },
    });
  return found;
}

/** The text with other names, and where an offset of the old text is in it. */
function renameScript(
  text: string,
  names: Names,
  { specifiers, suites }: Pick<Paths, 'specifiers' | 'suites'>,
): { readonly text: string; place(at: number): number } {
  const changes: { from: number; to: number; text: string }[] = [];
  for (const { name, from, to } of namesIn(text)) {
    const other = names.get(name);
    if (other !== undefined) changes.push({ from, to, text: other });
  }
  for (const match of text.matchAll(/^import [^;]+? from '([./][^']*)';$/gm)) {
    const [whole, from = ''] = match;
    const base = posix.basename(from, posix.extname(from));
    const other = specifiers.get(base);
    if (other === undefined) continue;
    const start = match.index + whole.lastIndexOf(base);
    changes.push({ from: start, to: start + base.length, text: other });
  }
  for (const match of text.matchAll(/^(describe\(')([^'\n]*)'/gm)) {
    const [, head = '', title = ''] = match;
    const other = suites.get(title);
    if (other === undefined) continue;
    const start = match.index + head.length;
    changes.push({ from: start, to: start + title.length, text: other });
  }
  changes.sort((a, b) => a.from - b.from);
  let out = '';
  let at = 0;
  for (const change of changes) {
    out += text.slice(at, change.from) + change.text;
    at = change.to;
  }
  out += text.slice(at);
  return {
    text: out,
    place(offset) {
      let shift = 0;
      for (const change of changes) {
        if (change.to > offset) break;
        shift += change.text.length - (change.to - change.from);
      }
      return offset + shift;
    },
  };
}

/** A piece of code that need not be whole: names outside of quotes. */
function renameFragment(text: string, names: Names): string {
  return text.replace(/'[^'\n]*'|"[^"\n]*"|[A-Za-z_$][\w$]*/g, (part) => names.get(part) ?? part);
}

function renameManifest(text: string, specifiers: Names): string {
  return text.replace(/("name": ")([^"]*)"/, (whole, head: string, name: string) => {
    const other = specifiers.get(name);
    return other === undefined ? whole : `${head}${other}"`;
  });
}

interface Paths {
  path(old: string): string;
  /** New base names of the files by their old ones. */
  readonly specifiers: Names;
  /** New titles of the suites that are called as a file. */
  readonly suites: Names;
}

/**
 * Other names for most of the files. Suites that are called as their module stay so for half of the
 * tasks: there the path that comes next stands in the first message in two ways.
 */
function choosePaths(paths: readonly string[], chance: Chance): Paths {
  const bases = [
    ...new Set(
      paths
        .filter((path) => SCRIPT.test(path))
        .map((path) => posix.basename(path).split('.')[0] ?? ''),
    ),
  ].sort();
  const specifiers = new Map<string, string>();
  const suites = chance.chance(0.5) ? specifiers : new Map<string, string>();
  for (const base of bases) {
    if (chance.chance(0.3)) continue;
    const other = newName(chance.chance(0.5) ? 'kebab' : 'flat', chance);
    if (![...specifiers.values()].includes(other)) specifiers.set(base, other);
  }
  return {
    specifiers,
    suites,
    path(old) {
      if (!SCRIPT.test(old)) return old;
      const [base = '', ...endings] = posix.basename(old).split('.');
      return posix.join(posix.dirname(old), [specifiers.get(base) ?? base, ...endings].join('.'));
    },
  };
}
