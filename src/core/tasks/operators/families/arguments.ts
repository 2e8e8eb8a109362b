import { argumentsOf, calleeName, type Family, receiverOf, textOf } from '../scan.ts';

export const callArguments: Family = (node, role, scan) => {
  if (role !== 'call' && role !== 'new') return;
  const list = argumentsOf(node);
  if (list === undefined) return;
  const isFunction = (index: number) => {
    const item = list[index];
    return item !== undefined && scan.grammar.role(item) === 'function';
  };
  if (list.length <= 4) {
    for (let i = 0; i < list.length; i++) {
      for (let j = i + 1; j < list.length; j++) {
        const [a, b] = [list[i], list[j]];
        if (a === undefined || b === undefined || isFunction(i) || isFunction(j)) continue;
        const [first, second] = [textOf(scan, a), textOf(scan, b)];
        if (first === second) continue;
        scan.emit(
          'argument-swap',
          { from: a.from, to: b.to },
          second + scan.text.slice(a.to, b.from) + first,
          `arguments ${i + 1} and ${j + 1} swapped`,
          scan.grammar.role(a) === scan.grammar.role(b) ? 1 : 0.6,
        );
      }
    }
  }
  const [last, before] = [list.at(-1), list.at(-2)];
  if (last !== undefined && before !== undefined) {
    scan.emit('argument-drop', { from: before.to, to: last.to }, '', 'last argument dropped');
  }
  const receiver = receiverOf(node);
  const [only] = list;
  const name = calleeName(node);
  if (receiver === undefined || only === undefined || list.length !== 1 || name === undefined)
    return;
  const simple = /^[\w.]+$/;
  const [a, b] = [textOf(scan, receiver), textOf(scan, only)];
  if (a === b || !simple.test(a) || !simple.test(b) || /^\d|^(?:this|self|super)$/.test(b)) return;
  if (/^(?:this|self|super|console|Math|Object|Array|Number|JSON|process)$/.test(a)) return;
  scan.emit(
    'receiver-swap',
    { from: receiver.from, to: only.to },
    b + scan.text.slice(receiver.to, only.from) + a,
    `${a} and ${b} swapped`,
    textOf(scan, name) === 'localeCompare' ? 1.5 : 0.5,
  );
};
