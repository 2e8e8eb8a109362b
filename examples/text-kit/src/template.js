/**
 * Templates with `{{ path.to.value | filter | filter }}` and `{{# list }} … {{/ list }}`. Inside a
 * block names are looked up in the item first, then outside; `.` is the item itself.
 */

const BUILT_IN_FILTERS = {
  upper: (value) => String(value).toUpperCase(),
  lower: (value) => String(value).toLowerCase(),
  trim: (value) => String(value).trim(),
  json: (value) => JSON.stringify(value),
  count: (value) => value?.length ?? 0,
};

const TAG = /\{\{\s*([#/]?)\s*([^}]*?)\s*\}\}/g;

/**
 * @param {{ filters?: Record<string, (value: unknown) => unknown>, missing?: string }} [options]
 * @returns {(template: string, data: object) => string}
 */
export function createRenderer({ filters = {}, missing = '' } = {}) {
  const known = Object.assign(BUILT_IN_FILTERS, filters);

  const value = (expression, scopes) => {
    const [path, ...names] = expression.split('|').map((part) => part.trim());
    let result = lookup(path, scopes);
    for (const name of names) {
      if (!Object.hasOwn(known, name)) throw new Error(`unknown filter: ${name}`);
      result = known[name](result);
    }
    return result ?? missing;
  };

  const renderNodes = (nodes, scopes) => nodes.map((node) => renderNode(node, scopes)).join('');

  const renderNode = (node, scopes) => {
    if (node.type === 'text') return node.text;
    if (node.type === 'value') return String(value(node.expression, scopes));
    const list = lookup(node.path, scopes);
    if (list === undefined || list === null || list === false) return '';
    const items = Array.isArray(list) ? list : [list];
    return items.map((item) => renderNodes(node.children, [item, ...scopes])).join('');
  };

  return (template, data) => renderNodes(parse(template), [data]);
}

function parse(template) {
  const root = { path: '', children: [] };
  const open = [root];
  let end = 0;

  const append = (node) => open[open.length - 1].children.push(node);

  for (const match of template.matchAll(TAG)) {
    const [tag, kind, body] = match;
    if (match.index > end) append({ type: 'text', text: template.slice(end, match.index) });
    end = match.index + tag.length;

    if (kind === '') {
      append({ type: 'value', expression: body });
    } else if (kind === '#') {
      const block = { type: 'block', path: body, children: [] };
      append(block);
      open.push(block);
    } else {
      const block = open.pop();
      if (block === root || block.path !== body) throw new SyntaxError(`unexpected {{/${body}}}`);
    }
  }

  if (open.length > 1) throw new SyntaxError(`{{#${open.at(-1).path}}} is not closed`);
  if (end < template.length) append({ type: 'text', text: template.slice(end) });
  return root.children;
}

function lookup(path, scopes) {
  if (path === '.') return scopes[0];
  const [first, ...rest] = path.split('.');
  const scope = scopes.find((candidate) => isObject(candidate) && Object.hasOwn(candidate, first));
  return rest.reduce((value, key) => value?.[key], scope?.[first]);
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}
