import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedbackLine } from '../../../../src/core/trajectories/feedback.ts';
import type { TurnLine } from '../../../../src/core/trajectories/schema.ts';
import type { Trajectory } from '../../../../src/core/trajectories/trajectory.ts';
import { renderTranscript } from '../../../../src/editor/transcript/render.ts';
import { createFakeVs } from '../../../support/fake-vs.ts';
import { end, header, trajectory, turn } from '../../core/trajectories/make.ts';

const { l10n } = createFakeVs().vs;

function render(
  record: Trajectory,
  options: { readonly whole?: boolean; readonly feedback?: readonly FeedbackLine[] } = {},
): string {
  return renderTranscript(record, {
    l10n,
    whole: options.whole ?? false,
    formatTime: (time) => time.toISOString(),
    feedback: options.feedback ?? [],
  });
}

function acted(
  index: number,
  content: string,
  ...done: readonly (readonly [
    name: string,
    given: Record<string, unknown>,
    returned: string,
    ok?: boolean,
  ])[]
): TurnLine {
  const plain = turn(index);
  const id = (at: number): string => `call-${index}-${at}`;
  return {
    ...plain,
    startedAt: new Date(Date.UTC(2026, 0, 2, 3, 4, 6 + index)).toISOString(),
    reply: {
      ...plain.reply,
      content,
      calls: done.map(([name, given], at) => ({ id: id(at), name, arguments: given })),
    },
    observations: done.map(([name, , returned, ok = true], at) => ({
      callId: id(at),
      name,
      ok,
      content: returned,
      durationMs: 1200,
    })),
  };
}

const EDIT = {
  command: 'str_replace',
  path: '/workspace/src/cart.js',
  old_str: '  return sum;',
  new_str: '  return sum + tax;\n',
};

const solved = trajectory({
  header: header({
    task: {
      ...header().task,
      targets: ['test/cart.test.js::cart > adds tax', 'test/cart.test.js::cart > rounds'],
    },
  }),
  turns: [
    acted(
      0,
      'I look at the test.',
      ['bash', { command: 'cat test/cart.test.js\nls' }, 'test text\n'],
      ['run_tests', {}, '1 failed', false],
    ),
    { ...acted(1, '', ['str_replace_editor', EDIT, 'The file was edited.']), policyMs: 1234 },
    acted(
      2,
      'And the rest.',
      [
        'str_replace_editor',
        { command: 'create', path: '/workspace/a.js', file_text: 'one\ntwo\n' },
        'made',
      ],
      [
        'str_replace_editor',
        { command: 'insert', path: '/workspace/a.js', insert_line: 2, new_str: 'three' },
        'done',
      ],
      [
        'str_replace_editor',
        { command: 'view', path: '/workspace/a.js', view_range: [1, 2] },
        '     1\tone',
      ],
      ['str_replace_editor', { command: 'undo_edit', path: '/workspace/a.js' }, 'undone'],
      ['search', { search_term: 'tax' }, 'src/cart.js:3'],
    ),
    acted(3, '', ['run_tests', { tests: ['test/cart.test.js'] }, '3 passed'], ['submit', {}, 'ok']),
  ],
  end: end({
    flags: ['comparison: src/cart.js'],
    totals: {
      turns: 4,
      promptTokens: 12345,
      completionTokens: 678,
      cost: 0.0123,
      durationMs: 65_000,
    },
  }),
});

const FEEDBACK: readonly FeedbackLine[] = [
  {
    type: 'feedback',
    version: 1,
    at: '2026-01-02T04:00:00.000Z',
    kind: 'accepted',
    files: [{ path: 'src/cart.js', changes: [0], of: 1 }],
  },
];

const hostile = trajectory({
  header: header({
    task: {
      ...header().task,
      targets: ['test/a.test.js::# not a heading\n[click](command:evil) `tick` <b>'],
    },
    messages: [{ role: 'user', content: '````\n# still inside\n```' }],
  }),
  turns: [
    acted(
      0,
      '```\n## Turn 99\n```',
      ['bash', { command: 'echo "```"\n# Turn 98' }, '\x1b[2J~~~\n`````\n\u202etxet\n', false],
      ['na\nme`', { 'k`': '```' }, ''],
    ),
  ],
  end: undefined,
  cut: true,
});

const long = trajectory({
  turns: [
    acted(0, '', [
      'bash',
      { command: 'seq 200' },
      Array.from({ length: 200 }, (_, at) => `line ${at + 1}`).join('\n'),
    ]),
    acted(1, '', ['bash', { command: 'cat bundle.js' }, 'x'.repeat(2_000)]),
  ],
});

const odd = trajectory({
  turns: [
    {
      ...turn(0),
      reply: {
        ...turn(0).reply,
        reasoning: 'Perhaps tax.',
        content: 'Nothing to call.',
        calls: [],
        malformed: [{ reason: 'not JSON', text: '{"name": bash' }],
        finish: 'length',
      },
      observations: [],
      nudge: 'Call a tool.',
    },
  ],
  end: end({
    end: { kind: 'budget', budget: 'reply' },
    outcome: 'out_of_budget',
    reward: 0,
    reason: 'a reply was cut off by its token limit',
    patch: '',
    summary: '',
    localOnly: true,
    patchRedacted: true,
  }),
});

describe('a transcript', () => {
  it.each([
    ['solved', render(solved, { feedback: FEEDBACK })],
    ['going-on', render(trajectory({ end: undefined }))],
    ['hostile', render(hostile)],
    ['long', render(long)],
    ['long-whole', render(long, { whole: true })],
    ['odd', render(odd)],
  ])('reads like golden/%s.md', async (name, text) => {
    await expect(text).toMatchFileSnapshot(`golden/${name}.md`);
  });

  it('has its own headings alone, whatever a model, a command or a test’s name says', () => {
    expect(headings(render(hostile))).toEqual([
      expect.stringMatching(/^# Unfinished: # not a heading/),
      '## Task',
      expect.stringMatching(/^## Turn 1: bash: echo/),
    ]);
    const text = fc.string({
      unit: fc.constantFrom('`', '~', '#', ' ', '\n', '\r', 'a', '\\', '<', '[', '\t', '-', '='),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const record = trajectory({
          header: header({ messages: [{ role: 'user', content: c }] }),
          turns: [acted(0, a, ['bash', { command: b }, c], [a, { x: b }, a])],
          end: end({ patch: b, summary: c, reason: a, flags: [b] }),
        });
        const found = headings(render(record));
        expect(found.map((heading) => heading.split(':')[0])).toEqual([
          '# Solved',
          '## Task',
          '## Turn 1',
          '## Patch',
        ]);
      }),
    );
  });
});

/** Headings of CommonMark that are outside of fences. */
function headings(markdown: string): readonly string[] {
  let fence: string | undefined;
  const found: string[] = [];
  for (const line of markdown.split(/\r\n|\n|\r/)) {
    const opens = /^ {0,3}(`{3,}|~{3,})([^`]*)$/.exec(line);
    if (fence !== undefined) {
      const closes = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
      if (closes?.startsWith(fence)) fence = undefined;
    } else if (opens) fence = opens[1];
    else if (/^ {0,3}(#{1,6}(\s|$)|=+\s*$|-+\s*$)/.test(line)) found.push(line);
  }
  expect(fence, 'a fence without its end').toBeUndefined();
  return found;
}
