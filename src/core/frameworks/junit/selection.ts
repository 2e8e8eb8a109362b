import { posix } from 'node:path';
import { fileOf } from '../select.ts';

/** A test class, and of it one method; without a method the whole class. */
export interface ChosenTest {
  /** `shop.CartTest`, nested classes with `$`; `**` for all classes of a package. */
  readonly className: string;
  readonly method?: string;
}

const MAX_NAMES_BYTES = 60_000;

/**
 * What the tools are told; they may run more (all parameters of a test), and results are filtered
 * afterwards. Empty: all tests.
 */
export function chosenTests(ids: readonly string[]): readonly ChosenTest[] {
  const chosen = new Map<string, ChosenTest>();
  for (const id of ids) {
    const file = fileOf(id);
    const className = classOf(file);
    // A folder: not told apart here.
    if (className === undefined) return [];
    const names = id === file ? [] : id.slice(file.length + 2).split(' > ');
    const method = names
      .pop()
      ?.replace(/[([{].*$/s, '')
      .trim();
    const nested = names.filter((name) => /^\w+$/.test(name));
    const own = [className, ...nested].join('$');
    // Kotlin's names in backticks hold anything: then the whole class.
    const isPlain = method !== undefined && /^[\w$]+$/.test(method);
    const test = isPlain ? { className: own, method } : { className: own };
    chosen.set(`${own}#${isPlain ? method : ''}`, test);
    // The name may be that of a nested class, which is chosen as a whole.
    if (isPlain && /^[A-Z]/.test(method)) {
      chosen.set(`${own}$${method}#`, { className: `${own}$${method}` });
    }
  }
  const tests = [...chosen.values()];
  const size = tests.reduce((sum, test) => sum + test.className.length + 40, 0);
  return size > MAX_NAMES_BYTES ? [] : tests;
}

/** `src/test/java/shop/CartTest.java` → `shop.CartTest`. */
function classOf(file: string): string | undefined {
  const extension = posix.extname(file);
  if (!/^\.(?:java|kt|groovy|scala)$/.test(extension)) return undefined;
  const inside = /(?:^|\/)src\/[^/]+\/(?:java|kotlin|groovy|scala)\/(.+)$/.exec(file)?.[1] ?? file;
  return inside.slice(0, -extension.length).replaceAll('/', '.');
}

/** For Surefire. */
export function mavenArguments(tests: readonly ChosenTest[]): readonly string[] {
  if (tests.length === 0) return [];
  const names = tests.map(({ className, method }) => {
    return method === undefined ? `${className}*` : `${className}#${method}*`;
  });
  return [`-Dtest=${names.join(',')}`];
}

/** For Gradle's `test` task. */
export function gradleArguments(tests: readonly ChosenTest[]): readonly string[] {
  return tests.flatMap(({ className, method }) => [
    '--tests',
    method === undefined ? `${className}*` : `${className}.${method}*`,
  ]);
}
