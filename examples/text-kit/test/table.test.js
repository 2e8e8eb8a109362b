import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderTable } from '../src/index.js';

const columns = [{ title: 'Name' }, { title: 'Size', align: 'right' }, { title: 'Kind' }];
const rows = [
  ['readme', '1', 'text'],
  ['photo', '20480', 'picture'],
];

test('is as wide as its cells', () => {
  assert.equal(
    renderTable(columns, rows),
    ['Name     Size  Kind', '------  -----  -------', 'readme      1  text', 'photo   20480  picture'].join('\n'),
  );
});

test('cuts cells that are too long', () => {
  assert.equal(renderTable([{ title: 'Name', width: 5 }], rows), 'Name\n-----\nread…\nphoto');
});

test('takes the width of one column', () => {
  assert.equal(renderTable([{ title: 'Name' }], [['readme']], { widths: '8' }), 'Name\n--------\nreadme');
});

test('takes the widths of several columns', () => {
  assert.equal(
    renderTable(columns, rows, { widths: '8, *, 4' }),
    ['Name       Size  Kind', '--------  -----  ----', 'readme        1  text', 'photo     20480  pic…'].join('\n'),
  );
  assert.match(renderTable(columns, rows, { widths: '6,6,6' }), /^-{6} {2}-{6} {2}-{6}$/m);
});

test('centres', () => {
  assert.equal(renderTable([{ title: 'A', align: 'centre', width: 4 }], [['xyz']]), ' A\n----\nxyz');
});

test('refuses widths that are none', () => {
  assert.throws(() => renderTable(columns, rows, { widths: 'wide' }), /not a column width: wide/);
  assert.throws(() => renderTable(columns, rows, { widths: '0' }), RangeError);
});
