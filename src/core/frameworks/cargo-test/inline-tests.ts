import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/rust';

/** An item of a Rust file that is compiled for tests only. */
interface TestItem {
  /** Kind and name: `mod tests`, `fn adds`. */
  readonly key: string;
  /** With its attributes and documentation. */
  readonly from: number;
  readonly to: number;
}

const CONTAINER = /^(?:SourceFile|AttributeItem|ModItem|ImplItem|DeclarationList)$/;
const ATTRIBUTE =
  /^#!?\s*\[\s*(?:cfg\s*\((?=[\s\S]*\btest\b)|(?:\w+\s*::\s*)*(?:test|rstest|test_case|quickcheck|proptest|bench)\b)/;

/**
 * Sources hold their own tests in Rust. Test items of `before` are put into `after`: changed ones get
 * their old text, new ones go, removed ones come back at the end of the file.
 */
export function restoreTests(before: string, after: string): string {
  const old = testItems(before).map((item) => ({
    ...item,
    text: before.slice(item.from, item.to),
  }));
  const found = testItems(after);
  const same =
    old.length === found.length &&
    old.every(({ text }, index) => {
      const other = found[index];
      return other !== undefined && after.slice(other.from, other.to) === text;
    });
  if (same) return after;
  const waiting = [...old];
  let text = '';
  let end = 0;
  for (const item of found) {
    text += after.slice(end, item.from);
    end = item.to;
    const at = waiting.findIndex(({ key }) => key === item.key);
    const [restored] = at < 0 ? [] : waiting.splice(at, 1);
    text += restored?.text ?? '';
  }
  text += after.slice(end);
  for (const item of waiting) {
    text += `${text === '' || text.endsWith('\n') ? '' : '\n'}\n${item.text}\n`;
  }
  return text;
}

/** At any depth, outermost only, in order. */
function testItems(source: string): readonly TestItem[] {
  const items: TestItem[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.name === 'AttributeItem') {
      const attributes = node.getChildren('Attribute');
      if (attributes.some(({ from, to }) => ATTRIBUTE.test(source.slice(from, to)))) {
        const text = source.slice(attributes.at(-1)?.to ?? node.from, node.to).trimStart();
        items.push({ key: keyOf(text), from: node.from, to: node.to });
        return;
      }
    }
    if (!CONTAINER.test(node.name)) return;
    for (let child = node.firstChild; child !== null; child = child.nextSibling) visit(child);
  };
  visit(parser.parse(source).topNode);
  return items;
}

function keyOf(text: string): string {
  return (
    /^(?:pub(?:\s*\([^)]*\))?\s+)?((?:async\s+|unsafe\s+|const\s+)*(?:mod|fn|use|struct|enum|impl|static|macro_rules!)\s*\S*?)\s*[({;<=]/.exec(
      text,
    )?.[1] ?? text.slice(0, 40)
  );
}
