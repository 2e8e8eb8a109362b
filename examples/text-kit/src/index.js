export { parseCsv, stringifyCsv } from './csv.js';
export { compareNatural, sortNatural } from './natural.js';
export { renderTable } from './table.js';
export { createRenderer } from './template.js';
export { wrap } from './wrap.js';
