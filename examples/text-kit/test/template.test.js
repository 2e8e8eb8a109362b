import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRenderer } from '../src/index.js';

const render = createRenderer();

describe('values', () => {
  it('fills in values by path', () => {
    assert.equal(render('Hi {{ user.name }}, {{n}}!', { user: { name: 'Ada' }, n: 3 }), 'Hi Ada, 3!');
  });

  it('fills in falsy values too', () => {
    assert.equal(render('{{ n }}{{ f }}', { n: 0, f: false }), '0false');
  });

  it('uses a text for what is missing', () => {
    assert.equal(createRenderer({ missing: '?' })('{{ a }} {{ b.c }}', {}), '? ?');
  });
});

describe('filters', () => {
  it('apply from left to right', () => {
    assert.equal(render('{{ name | trim | upper }}', { name: ' ada ' }), 'ADA');
    assert.equal(render('{{ list | count }}', { list: [1, 2] }), '2');
  });

  it('can be added', () => {
    const shout = createRenderer({ filters: { shout: (value) => `${value}!` } });
    assert.equal(shout('{{ name | shout | upper }}', { name: 'ada' }), 'ADA!');
  });

  it('belong to one renderer', () => {
    createRenderer({ filters: { upper: () => 'changed', stars: () => '***' } });
    const other = createRenderer();
    assert.equal(other('{{ name | upper }}', { name: 'ada' }), 'ADA');
    assert.throws(() => other('{{ name | stars }}', { name: 'ada' }), /unknown filter: stars/);
  });

  it('must be known', () => {
    assert.throws(() => render('{{ name | nope }}', {}), /unknown filter: nope/);
  });
});

describe('blocks', () => {
  it('repeat for every item', () => {
    assert.equal(render('{{# items }}<{{ id }}>{{/ items }}', { items: [{ id: 1 }, { id: 2 }] }), '<1><2>');
    assert.equal(render('{{# tags }}{{ . }} {{/ tags }}', { tags: ['a', 'b'] }), 'a b ');
  });

  it('look outside for what an item lacks', () => {
    const data = { unit: 'kg', items: [{ n: 1 }, { n: 2, unit: 'g' }] };
    assert.equal(render('{{#items}}{{n}}{{unit}} {{/items}}', data), '1kg 2g ');
  });

  it('vanish without a value', () => {
    assert.equal(render('a{{#x}}b{{/x}}c{{#y}}d{{/y}}', { x: false, y: [] }), 'ac');
  });

  it('must be closed in order', () => {
    assert.throws(() => render('{{#a}}{{#b}}{{/a}}{{/b}}', {}), /unexpected \{\{\/a\}\}/);
    assert.throws(() => render('{{#a}}', {}), /not closed/);
  });
});
