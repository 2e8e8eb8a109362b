import { createHash } from 'node:crypto';
import type { Language } from './operators/edit.ts';
import { grammarOf } from './operators/grammars.ts';

/** Leaves whose text is a name or a literal: what differs there is no other program. */
const NORMALISED =
  /Name$|Definition$|^(?:Number|String|TemplateString|RegExp|Boolean|Escape|FormatString)|^BooleanLiteral$/;

/**
 * The syntax tree of a source as a list of words, with names and literals made equal and comments
 * and layout left out.
 */
export function shapeWords(source: string, language: Language): readonly string[] {
  const words: string[] = [];
  const tree = grammarOf(language).parse(source);
  tree.iterate({
    enter(node) {
      if (node.name.endsWith('Comment')) return false;
      const { name } = node;
      const isLeaf = node.node.firstChild === null;
      if (!isLeaf) {
        words.push(name);
        return true;
      }
      words.push(NORMALISED.test(name) ? name : source.slice(node.from, node.to));
      return true;
    },
  });
  return words;
}

export function shapeHash(words: readonly string[]): string {
  return createHash('sha256').update(words.join('\0')).digest('hex').slice(0, 24);
}
