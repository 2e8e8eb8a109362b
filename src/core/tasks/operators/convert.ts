import { NodeType, type SyntaxNode, Tree } from '@lezer/common';

/** What becomes of a node of a parser with names of its own; empty: it stays as it is. */
export interface Converted {
  readonly name?: string;
  /** The node is only a wrapping: this child of it takes its place. */
  readonly inner?: SyntaxNode;
  /** Nothing inside of it counts. */
  readonly leaf?: boolean;
  /** Leaves that the parser leaves out, for example an operator; between the children. */
  readonly leaves?: readonly {
    readonly name: string;
    readonly from: number;
    readonly to: number;
  }[];
}

/**
 * A tree with the names and shapes that the families know. Places stay those of the text.
 *
 * @param convert must not change how nodes nest, apart from `inner`
 */
export function convertTree(tree: Tree, convert: (node: SyntaxNode) => Converted): Tree {
  const build = (node: SyntaxNode): { readonly tree: Tree; readonly from: number } => {
    const { name = node.name, inner, leaf = false, leaves = [] } = convert(node);
    if (inner !== undefined) return build(inner);
    const parts = leaves.map(({ name: own, from, to }) => ({
      tree: new Tree(typeOf(own, false), [], [], to - from),
      from,
    }));
    for (let child = leaf ? null : node.firstChild; child !== null; child = child.nextSibling) {
      parts.push(build(child));
    }
    parts.sort((a, b) => a.from - b.from);
    const type = typeOf(name, node.type.isError);
    const places = parts.map(({ from }) => from - node.from);
    return {
      tree: new Tree(
        type,
        parts.map((part) => part.tree),
        places,
        node.to - node.from,
      ),
      from: node.from,
    };
  };
  return build(tree.topNode).tree;
}

const types = new Map<string, NodeType>();

function typeOf(name: string, error: boolean): NodeType {
  const key = error ? `! ${name}` : name;
  const known = types.get(key);
  if (known !== undefined) return known;
  const made = NodeType.define({ id: types.size, name, error });
  types.set(key, made);
  return made;
}
