import { posix } from 'node:path';

const DOC = 'doc ';

/**
 * Where a test of a crate is: modules are files next to the crate's root, as the language says.
 *
 * @param root the crate's root file, for example `src/lib.rs`
 * @param name as the test program prints it: `parser::tests::parses`
 * @param files all Rust files
 */
export function locateTest(
  root: string,
  name: string,
  files: ReadonlySet<string>,
): { readonly file: string; readonly id: string } {
  const modules = name.split('::');
  const folder = posix.dirname(root);
  for (let count = modules.length - 1; count > 0; count--) {
    const path = posix.join(folder, ...modules.slice(0, count));
    const file = [`${path}.rs`, `${path}/mod.rs`].find((candidate) => files.has(candidate));
    if (file !== undefined && file !== root) {
      return { file, id: `${file}::${modules.slice(count).join('::')}` };
    }
  }
  return { file: root, id: `${root}::${name}` };
}

/** `src/lib.rs - add (line 5)` → the file, and a name that stays when lines are added above. */
export function docTest(
  name: string,
): { readonly file: string; readonly name: string; readonly line: number } | undefined {
  const found = /^(.+\.(?:rs|md)) - (?:(.*) )?\(line (\d+)\)/.exec(name);
  if (!found) return undefined;
  const [, file = '', item = '', line] = found;
  return { file, name: `${DOC}${item || 'of the file'}`, line: Number(line) };
}

export function isDocTest(id: string): boolean {
  return id.includes(`::${DOC}`);
}
