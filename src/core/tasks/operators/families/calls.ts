import type { SyntaxNode } from '@lezer/common';
import { pairs } from '../grammar.ts';
import {
  argumentsOf,
  calleeName,
  type Family,
  isAtom,
  receiverOf,
  type Scan,
  textOf,
} from '../scan.ts';

const JAVASCRIPT = pairs(
  ['min', 'max'],
  ['floor', 'ceil'],
  ['floor', 'round'],
  ['ceil', 'round'],
  ['floor', 'trunc'],
  ['log', 'log2'],
  ['log2', 'log10'],
  ['sin', 'cos'],
  ['push', 'unshift'],
  ['pop', 'shift'],
  ['startsWith', 'endsWith'],
  ['includes', 'startsWith'],
  ['includes', 'endsWith'],
  ['indexOf', 'lastIndexOf'],
  ['find', 'findLast'],
  ['findIndex', 'findLastIndex'],
  ['some', 'every'],
  ['map', 'forEach'],
  ['map', 'flatMap'],
  ['filter', 'find'],
  ['map', 'filter'],
  ['reduce', 'reduceRight'],
  ['toUpperCase', 'toLowerCase'],
  ['trimStart', 'trimEnd'],
  ['trim', 'trimEnd'],
  ['trim', 'trimStart'],
  ['padStart', 'padEnd'],
  ['slice', 'splice'],
  ['slice', 'substring'],
  ['replace', 'replaceAll'],
  ['match', 'matchAll'],
  ['keys', 'values'],
  ['values', 'entries'],
  ['keys', 'entries'],
  ['add', 'delete'],
  ['has', 'get'],
  ['all', 'race'],
  ['all', 'allSettled'],
  ['parseInt', 'parseFloat'],
  ['parseInt', 'Number'],
  ['parseFloat', 'Number'],
  ['resolve', 'reject'],
  ['getDate', 'getDay'],
  ['getMonth', 'getDate'],
  ['getHours', 'getUTCHours'],
  ['getDate', 'getUTCDate'],
  ['getDay', 'getUTCDay'],
  ['getMonth', 'getUTCMonth'],
  ['getFullYear', 'getUTCFullYear'],
  ['encodeURI', 'encodeURIComponent'],
  ['decodeURI', 'decodeURIComponent'],
  ['concat', 'push'],
  ['on', 'once'],
  ['call', 'apply'],
  ['test', 'exec'],
  ['setTimeout', 'setInterval'],
  ['clearTimeout', 'clearInterval'],
);

const PYTHON = pairs(
  ['min', 'max'],
  ['floor', 'ceil'],
  ['floor', 'round'],
  ['ceil', 'round'],
  ['int', 'round'],
  ['int', 'float'],
  ['str', 'repr'],
  ['any', 'all'],
  ['sum', 'len'],
  ['append', 'extend'],
  ['append', 'appendleft'],
  ['pop', 'popleft'],
  ['add', 'discard'],
  ['add', 'remove'],
  ['add', 'update'],
  ['upper', 'lower'],
  ['title', 'capitalize'],
  ['lstrip', 'rstrip'],
  ['strip', 'lstrip'],
  ['strip', 'rstrip'],
  ['startswith', 'endswith'],
  ['removeprefix', 'removesuffix'],
  ['find', 'rfind'],
  ['index', 'rindex'],
  ['find', 'index'],
  ['split', 'rsplit'],
  ['split', 'splitlines'],
  ['partition', 'rpartition'],
  ['ljust', 'rjust'],
  ['keys', 'values'],
  ['values', 'items'],
  ['keys', 'items'],
  ['union', 'intersection'],
  ['difference', 'symmetric_difference'],
  ['issubset', 'issuperset'],
  ['isdigit', 'isalpha'],
  ['isalpha', 'isalnum'],
  ['isdigit', 'isalnum'],
  ['islower', 'isupper'],
  ['match', 'search'],
  ['match', 'fullmatch'],
  ['sorted', 'reversed'],
  ['sorted', 'list'],
  ['bisect_left', 'bisect_right'],
  ['bisect', 'bisect_left'],
  ['isinstance', 'issubclass'],
  ['get', 'pop'],
  ['get', 'setdefault'],
  ['nlargest', 'nsmallest'],
  ['mean', 'median'],
  ['encode', 'decode'],
  ['log', 'log2'],
  ['log', 'log10'],
  ['heappush', 'heappop'],
  ['weekday', 'isoweekday'],
);

/** Functions that only shape their argument: leaving one out keeps the kind of value. */
const SHAPING =
  /^(?:abs|round|floor|ceil|trunc|sorted|reversed|set|list|str|int|float|Number|String|Boolean|parseInt|parseFloat|sqrt)$/;

export const calls: Family = (node, role, scan) => {
  const table = scan.grammar.functions ?? (scan.grammar.kind === 'python' ? PYTHON : JAVASCRIPT);
  if (role === 'variable' || role === 'property') {
    const text = textOf(scan, node);
    if (!table.has(text)) return;
    if (role === 'variable' && !scan.grammar.isReference(node)) return;
    // Only where it is called or handed over as a function of a library (`reduce(Math.max)`).
    if (!isCalled(node)) return;
    for (const other of table.get(text) ?? []) {
      scan.emit('function-pair', node, other, `${text} becomes ${other}`);
    }
    return;
  }
  if (role === 'regexp') regularExpression(node, scan);
  if (role === 'member') optionalChaining(node, scan);
  if (role !== 'call') return;
  unwrap(node, scan);
  sorting(node, scan);
};

export function isCalled(name: SyntaxNode): boolean {
  const holder = name.name === 'VariableName' ? name : name.parent;
  const call = holder?.parent;
  return (
    holder !== null &&
    holder !== undefined &&
    (call?.name === 'CallExpression' || call?.name === 'NewExpression') &&
    call.getChild('ArgList') !== null &&
    (holder.nextSibling?.name === 'ArgList' || holder.nextSibling?.name === 'TypeArgList')
  );
}

function unwrap(node: SyntaxNode, scan: Scan): void {
  const name = calleeName(node);
  const list = argumentsOf(node);
  const [only] = list ?? [];
  if (name === undefined || only === undefined || list?.length !== 1) return;
  if (
    !SHAPING.test(textOf(scan, name)) ||
    !(isAtom(scan, only) || scan.grammar.role(only) === 'binary')
  )
    return;
  const text = isAtom(scan, only) ? textOf(scan, only) : `(${textOf(scan, only)})`;
  scan.emit('call-unwrap', node, text, `call of ${textOf(scan, name)} left out`);
}

const MUTATING = /^(?:sort|reverse|splice|fill)$/;
const NUMERIC = '(a, b) => a - b';

/** Sorting in place where a copy was meant, and sorting numbers as strings. */
function sorting(node: SyntaxNode, scan: Scan): void {
  if (scan.grammar.kind !== 'javascript') return;
  const receiver = receiverOf(node);
  const name = calleeName(node);
  const list = node.getChild('ArgList');
  if (receiver === undefined || name === undefined || list === null) return;
  const called = textOf(scan, name);
  const object = textOf(scan, receiver);
  if (MUTATING.test(called)) {
    const spread = /^\[\.\.\.([\w.]+)\]$/.exec(object)?.[1];
    if (spread !== undefined && !/^\d/.test(spread)) {
      scan.emit('copy-remove', receiver, spread, 'copy left out');
    } else if (/^(?:[A-Za-z_$][\w$]*)(?:\.\w+)*$/.test(object)) {
      scan.emit('copy-add', receiver, `[...${object}]`, `works on a copy of ${object}`);
    }
  }
  if (called !== 'sort') return;
  const inner = scan.text.slice(list.from + 1, list.to - 1);
  if (inner === '')
    scan.emit('sort-numeric', { from: list.from + 1, to: list.to - 1 }, NUMERIC, 'sorts by number');
  if (inner === NUMERIC)
    scan.emit('sort-plain', { from: list.from + 1, to: list.to - 1 }, '', 'sorts as text');
}

function regularExpression(node: SyntaxNode, scan: Scan): void {
  const text = textOf(scan, node);
  const flags = /\/([a-z]*)$/.exec(text)?.[1];
  if (flags === undefined) return;
  const end = node.to;
  for (const flag of ['g', 'i', 'm']) {
    const at = flags.indexOf(flag);
    if (at < 0)
      scan.emit(
        'regex-flag',
        { from: end, to: end },
        flag,
        `flag ${flag} added`,
        flag === 'm' ? 0.4 : 1,
      );
    else if (at === flags.length - 1)
      scan.emit('regex-flag', { from: end - 1, to: end }, '', `flag ${flag} removed`);
  }
}

function optionalChaining(node: SyntaxNode, scan: Scan): void {
  if (scan.grammar.kind !== 'javascript') return;
  const dot = node.firstChild?.nextSibling;
  if (dot === null || dot === undefined || isAssigned(node, scan)) return;
  const receiver = node.firstChild;
  if (receiver === null || receiver.name === 'super' || receiver.name === 'NewExpression') return;
  if (dot.name === '?.' && dot.nextSibling?.name === 'PropertyName')
    scan.emit('optional-remove', dot, '.', '?. becomes .');
  if (dot.name !== '.' || receiver.name === 'this') return;
  if (
    /^(?:Math|JSON|Object|Array|Number|String|Date|Promise|console|process|import)$/.test(
      textOf(scan, receiver),
    )
  )
    return;
  if (dot.nextSibling?.name !== 'PropertyName') return;
  scan.emit('optional-add', dot, '?.', '. becomes ?.');
}

/** `a?.b = 1` and `new a?.b()` are errors, and so is a tagged template behind `?.`. */
function isAssigned(node: SyntaxNode, scan: Scan): boolean {
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) {
    const parent: SyntaxNode | null = at.parent;
    if (parent === null) return false;
    const role = scan.grammar.role(parent);
    if (role === 'new' || parent.name === 'TaggedTemplateExpression' || role === 'update')
      return true;
    if (/Pattern$|^ForOfSpec$|^ForInSpec$|^ClassDeclaration$|^ClassExpression$/.test(parent.name))
      return true;
    if (role === 'assignment') return parent.firstChild?.from === at.from;
    if (role === 'unary') return textOf(scan, parent).startsWith('delete');
    if (role !== 'member' && role !== 'call') return false;
    if (parent.firstChild?.from !== at.from) return false;
  }
  return false;
}
