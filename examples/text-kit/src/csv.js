/**
 * CSV as in RFC 4180: fields may be quoted, quotes inside quoted fields are doubled, lines end with
 * CR LF or LF.
 */

const QUOTE = '"';

/**
 * @param {string} text
 * @param {{ delimiter?: string, header?: boolean, trim?: boolean }} [options]
 * @returns {string[][] | Record<string, string>[]} rows, or records by column name with `header`
 */
export function parseCsv(text, { delimiter = ',', header = false, trim = false } = {}) {
  const rows = readRows(stripBom(text), delimiter);
  const cells = trim ? rows.map((row) => row.map((cell) => cell.trim())) : rows;
  return header ? toRecords(cells) : cells;
}

function readRows(text, delimiter) {
  const rows = [];
  let row = [];
  let field = '';
  let quoted = false;
  let line = 1;

  const endField = () => {
    row.push(field);
    field = '';
  };
  const endRow = () => {
    endField();
    rows.push(row);
    row = [];
  };

  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (char === '\n') line += 1;

    if (quoted) {
      if (char !== QUOTE) {
        field += char;
      } else if (text[i + 1] === QUOTE) {
        field += QUOTE;
        i += 1;
      } else {
        quoted = false;
      }
    } else if (char === QUOTE && field === '') {
      quoted = true;
    } else if (char === delimiter) {
      endField();
    } else if (char === '\n') {
      endRow();
    } else if (char === '\r' && text[i + 1] === '\n') {
      // Part of the line ending.
    } else {
      field += char;
    }
  }

  if (quoted) throw new SyntaxError(`quoted field is not closed (line ${line})`);
  if (field !== '' || row.length > 0) endRow();
  return rows;
}

function toRecords([names = [], ...rows]) {
  return rows.map((row, index) => {
    if (row.length > names.length) {
      throw new SyntaxError(`row ${index + 2} has ${row.length} fields, expected ${names.length}`);
    }
    return Object.fromEntries(names.map((name, column) => [name, row[column] ?? '']));
  });
}

/**
 * @param {(string | number | null | undefined)[][]} rows
 * @param {{ delimiter?: string, newline?: string }} [options]
 */
export function stringifyCsv(rows, { delimiter = ',', newline = '\r\n' } = {}) {
  return rows.map((row) => row.map((cell) => quote(cell)).join(delimiter) + newline).join('');
}

function quote(cell) {
  const text = cell === null || cell === undefined ? '' : String(cell);
  if (!/[",\r\n]/.test(text)) return text;
  return QUOTE + text.replaceAll(QUOTE, QUOTE + QUOTE) + QUOTE;
}

function stripBom(text) {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
