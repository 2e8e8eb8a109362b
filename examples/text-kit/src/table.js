/**
 * @typedef {{ title: string, align?: 'left' | 'right' | 'centre', width?: number }} Column
 */

const ELLIPSIS = '…';

/**
 * Draws rows under titles. `widths` ("10,*,8") fixes the width of columns; `*` and missing ones are
 * as wide as their longest cell.
 *
 * @param {Column[]} columns
 * @param {string[][]} rows
 * @param {{ widths?: string, gap?: string }} [options]
 */
export function renderTable(columns, rows, { widths = '', gap = '  ' } = {}) {
  const fixed = parseWidths(widths);
  const sizes = columns.map((column, i) => fixed[i] ?? column.width ?? longest(column, rows, i));

  const lines = [
    columns.map((column, i) => cell(column.title, sizes[i], column.align)),
    sizes.map((size) => '-'.repeat(size)),
    ...rows.map((row) => columns.map((column, i) => cell(row[i] ?? '', sizes[i], column.align))),
  ];
  return lines.map((cells) => cells.join(gap).trimEnd()).join('\n');
}

function parseWidths(text) {
  if (text === '') return [];
  const parts = text.split(',').map((part) => part.trim());
  const numbers = parts.map(Number.parseInt);
  return parts.map((part, i) => (part === '*' ? undefined : checkWidth(numbers[i], part)));
}

function checkWidth(width, part) {
  if (!Number.isInteger(width) || width < 1) throw new RangeError(`not a column width: ${part}`);
  return width;
}

function longest(column, rows, index) {
  return Math.max(column.title.length, ...rows.map((row) => (row[index] ?? '').length));
}

function cell(text, size, align = 'left') {
  const fitted = text.length > size ? text.slice(0, size - 1) + ELLIPSIS : text;
  if (align === 'right') return fitted.padStart(size);
  if (align === 'centre') {
    const before = Math.floor((size - fitted.length) / 2);
    return (' '.repeat(before) + fitted).padEnd(size);
  }
  return fitted.padEnd(size);
}
