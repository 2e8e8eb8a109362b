import { posix } from 'node:path';

/** Files of a project by what the JVM says of them: packages and file names, without folders. */
export interface Sources {
  /** @param path `shop/Cart.java` · @param module folder whose files are preferred */
  find(path: string, module: string): string | undefined;
  /** @param className `shop.CartTest$Inner` */
  findClass(className: string, module: string): string | undefined;
}

const LANGUAGES = ['java', 'kt', 'groovy', 'scala'];

export function indexSources(files: Iterable<string>): Sources {
  const byName = new Map<string, string[]>();
  for (const file of files) {
    const name = posix.basename(file);
    const known = byName.get(name);
    if (known) known.push(file);
    else byName.set(name, [file]);
  }
  const find = (path: string, module: string): string | undefined => {
    const matching = (byName.get(posix.basename(path)) ?? []).filter(
      (file) => file === path || file.endsWith(`/${path}`),
    );
    return matching.find((file) => module === '' || file.startsWith(`${module}/`)) ?? matching[0];
  };
  return {
    find,
    findClass: (className, module) => {
      const top = (className.split('$', 1)[0] ?? className).replaceAll('.', '/');
      // Kotlin's classes may be in files of other names, and packages in no folders of their own.
      for (const path of [top, posix.basename(top)]) {
        for (const language of LANGUAGES) {
          const found = find(`${path}.${language}`, module);
          if (found !== undefined) return found;
        }
      }
      return undefined;
    },
  };
}

const TEST =
  /@(?:[\w.]+\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b(?:\s*\([^)]*\))?(?:\s*@[\w.]+(?:\s*\([^)]*\))?)*\s+(?:[\w.]+(?:<[^(){}]*>)?(?:\[\])*\s+)*?(?:(\w+)|`([^`]+)`)\s*\(/g;

/**
 * Test methods of a Java or Kotlin file, by annotation: JUnit has no way to list tests without
 * running them. Names as in ids: `adds`, `Inner > adds`.
 */
export function testsInSource(
  source: string,
): readonly { readonly name: string; readonly line: number }[] {
  const code = blankOut(source);
  const classes = classRanges(code);
  return [...code.matchAll(TEST)].map((found) => {
    const at = found.index + found[0].length;
    const within = classes.filter(({ from, to }) => from < at && at < to).map(({ name }) => name);
    const method = found[1] ?? found[2] ?? '';
    return {
      name: [...within.slice(1), method].join(' > '),
      line: code.slice(0, at).split('\n').length,
    };
  });
}

/** Comments and texts become blanks of the same length; lines stay. */
function blankOut(source: string): string {
  return source.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g,
    (text) => text.replace(/[^\n]/g, ' '),
  );
}

interface ClassRange {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** Outermost first. */
function classRanges(code: string): readonly ClassRange[] {
  return [...code.matchAll(/\b(?:class|interface|record|object)\s+(\w+)[^{};]*\{/g)].map(
    (found) => {
      const from = found.index + found[0].length;
      let depth = 1;
      let to = from;
      while (to < code.length && depth > 0) {
        if (code[to] === '{') depth += 1;
        else if (code[to] === '}') depth -= 1;
        to += 1;
      }
      return { name: found[1] ?? '', from, to };
    },
  );
}
