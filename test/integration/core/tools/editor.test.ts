import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEditorTool } from '../../../../src/core/tools/editor/editor.ts';
import type { Tool, ToolResult } from '../../../../src/core/tools/tool.ts';
import { callTool, openTestSession, type TestSession } from './session.ts';

describe.each(['none', 'local'] as const)('str_replace_editor in sandbox %s', (kind) => {
  let test: TestSession;
  let editor: Tool;
  const call = (
    command: string,
    path: string,
    rest: Record<string, unknown> = {},
  ): Promise<ToolResult> => callTool(editor, { command, path, ...rest });

  beforeAll(async () => {
    test = await openTestSession(kind);
  });
  beforeEach(() => {
    editor = createEditorTool(test.session) as Tool;
  });
  afterAll(() => test.close());

  it('views, replaces, inserts and undoes, level by level', async () => {
    const path = '/workspace/src/cart.js';
    await test.put(path, 'one\r\ntwo\r\nthree');
    expect((await call('view', path)).text).toBe('     1\tone\n     2\ttwo\n     3\tthree');
    expect(await call('str_replace', path, { old_str: 'two\nth', new_str: '2\nth' })).toEqual({
      ok: true,
      text: 'Edited /workspace/src/cart.js:\n     1\tone\n     2\t2\n     3\tthree',
      detail: { changed: ['src/cart.js'] },
    });
    await call('insert', path, { insert_line: 3, insert_text: 'four' });
    expect(await test.bytes(path)).toBe('one\r\n2\r\nthree\r\nfour');
    expect((await call('undo_edit', path)).text).toBe(
      'Undid the last edit of /workspace/src/cart.js (1 earlier edit left).',
    );
    expect(await test.bytes(path)).toBe('one\r\n2\r\nthree');
    expect((await call('undo_edit', path)).ok).toBe(true);
    expect(await test.bytes(path)).toBe('one\r\ntwo\r\nthree');
    expect(await call('undo_edit', path)).toEqual({
      ok: false,
      text: 'There is no edit of /workspace/src/cart.js to undo.',
    });
  });

  it('creates with folders, byte for byte, and undo takes away both', async () => {
    const path = '/workspace/new/deep/né w.txt';
    const text = '\ttab\r\nno end é';
    expect((await call('create', path, { file_text: text })).text).toBe(
      'Created /workspace/new/deep/né w.txt (2 lines).',
    );
    expect(await test.bytes(path)).toBe(Buffer.from(text).toString('latin1'));
    expect((await call('create', path, { file_text: 'x' })).text).toContain('exists already');
    expect((await call('undo_edit', path)).text).toContain('and 2 empty folders made for it');
    await test.sh('[ ! -e /workspace/new ]');
  });

  it('leaves a folder that something else uses by now', async () => {
    const path = '/workspace/shared/a.txt';
    await call('create', path, { file_text: 'x' });
    await test.sh('touch /workspace/shared/.hidden');
    expect((await call('undo_edit', path)).text).toBe(
      'Undid the creation of /workspace/shared/a.txt: removed it.',
    );
    await test.sh('[ -e /workspace/shared/.hidden ] && rm -r /workspace/shared');
  });

  it('refuses an undo when something else changed the file', async () => {
    const path = '/workspace/changed.txt';
    await test.put(path, 'abc');
    await call('str_replace', path, { old_str: 'b', new_str: 'B' });
    await test.sh('printf xyz > /workspace/changed.txt');
    const refused = await call('undo_edit', path);
    expect(refused.ok).toBe(false);
    expect(refused.text).toContain('was changed by something else');
    expect(await test.bytes(path)).toBe('xyz');
    await test.sh('rm /workspace/changed.txt');
    expect((await call('undo_edit', path)).text).toContain('was changed by something else');
  });

  it('keeps the mode, and writes through symbolic links', async () => {
    await test.sh('cd /workspace && ln -sf src/run.sh link.sh');
    const result = await call('str_replace', '/workspace/link.sh', {
      old_str: 'ran',
      new_str: 'RAN',
    });
    expect(result.detail).toEqual({ changed: ['src/run.sh'] });
    expect(
      await test.sh('cd /workspace && [ -L link.sh ] && stat -c %a src/run.sh && ./link.sh'),
    ).toBe('755\nRAN\n');
    expect((await call('undo_edit', '/workspace/src/run.sh')).ok).toBe(true);
    expect(await test.sh('cd /workspace && ./link.sh')).toBe('ran\n');
  });

  it.each([
    ['src/a.js', 'The path src/a.js is not absolute. Maybe you meant /workspace/src/a.js?'],
    ['/workspace/../etc/passwd', '/etc/passwd is outside /workspace.'],
    ['/workspace-evil/a', '/workspace-evil/a is outside /workspace.'],
    [
      '/workspace/out/passwd',
      '/workspace/out/passwd leads outside /workspace through a symbolic link.',
    ],
    ['/workspace/out', '/workspace/out leads outside /workspace through a symbolic link.'],
    [
      '/workspace/out/new.txt',
      '/workspace/out/new.txt leads outside /workspace through a symbolic link.',
    ],
    ['/workspace/dangling', '/workspace/dangling is a symbolic link whose target does not exist.'],
    ['/workspace/loop', 'Too many levels of symbolic links'],
    ['/workspace/pipe', '/workspace/pipe is not a regular file.'],
    ['/workspace/binary', '/workspace/binary is a binary file; this tool works on text only.'],
    ['/workspace/src', '/workspace/src is a folder; str_replace needs a file.'],
    ['/workspace/nowhere/at/all', '/workspace/nowhere/at/all does not exist.'],
    ['/workspace/a.txt/b', '/workspace/a.txt/b does not exist.'],
    ['/workspace/a.tx', '/workspace/a.tx does not exist. Maybe you meant /workspace/a.txt.'],
    ['/workspace/lib/run.sh', 'does not exist. Maybe you meant /workspace/src/run.sh.'],
    [
      '/workspace/huge',
      '/workspace/huge is too large for this tool: 9,000,000 bytes, the limit is 8,000,000.',
    ],
  ])('refuses to edit %s and says why', async (path, text) => {
    await test.sh(
      'cd /workspace && ln -sfn /etc out && ln -sfn gone dangling && ln -sfn loop loop && ' +
        '{ [ -p pipe ] || mkfifo pipe; } && printf "a\\0b" > binary && truncate -s 9000000 huge',
    );
    const result = await call('str_replace', path, { old_str: 'a', new_str: 'b' });
    expect(result.ok).toBe(false);
    expect(result.text).toContain(text);
    expect((await call('create', path, { file_text: 'x' })).ok).toBe(
      ['/workspace/nowhere/at/all', '/workspace/a.tx', '/workspace/lib/run.sh'].includes(path),
    );
    await test.sh('cd /workspace && rm -rf nowhere a.tx lib huge binary pipe loop dangling out');
    expect(await test.sh('cd /workspace && git status --porcelain -- a.txt src/run.sh')).toBe('');
  });

  it('creates nothing below a file, outside, or through a link', async () => {
    await test.sh('cd /workspace && ln -sfn /tmp out');
    expect((await call('create', '/workspace/a.txt/b/c', { file_text: 'x' })).text).toBe(
      '/workspace/a.txt/b/c cannot exist: /workspace/a.txt is a file, not a folder.',
    );
    expect((await call('create', '/workspace/out/prime-x/y', { file_text: 'x' })).ok).toBe(false);
    await test.sh('[ ! -e /tmp/prime-x ] && rm /workspace/out');
  });

  it('says when permissions forbid it, and changes nothing', async () => {
    await test.sh(
      'cd /workspace && printf a > closed && chmod 0 closed && printf a > fixed && chmod 444 fixed',
    );
    // Without a sandbox the tests may run as root, whom no mode stops.
    const root = kind === 'none' && process.getuid?.() === 0;
    for (const name of ['closed', 'fixed']) {
      const result = await call('str_replace', `/workspace/${name}`, {
        old_str: 'a',
        new_str: 'b',
      });
      expect(result.ok).toBe(root);
      const text = root ? 'Edited' : `Permission denied: /workspace/${name}`;
      expect(result.text).toContain(text);
    }
    expect(await test.sh('cd /workspace && cat fixed && rm -f closed fixed')).toBe(
      root ? 'b' : 'a',
    );
  });

  it('says when a change will be in no patch, since git ignores the file', async () => {
    await test.sh("cd /workspace && printf '*.log\\n' >> .gitignore");
    const note = '\n[git ignores this file: the change will not be part of the patch]';
    const created = await call('create', '/workspace/a.log', { file_text: 'x\n' });
    expect(created.text).toBe(`Created /workspace/a.log (1 line).${note}`);
    const edited = await call('insert', '/workspace/a.log', { insert_line: 1, insert_text: 'y' });
    expect(edited.text).toContain(note);
    // A tracked file is part of the patch, whatever .gitignore says.
    await test.sh("cd /workspace && printf 'a.txt\\n' >> .gitignore");
    const tracked = await call('insert', '/workspace/a.txt', { insert_line: 0, insert_text: 'y' });
    expect(tracked.text).not.toContain(note);
    await test.sh('cd /workspace && git checkout -q -- .gitignore a.txt && rm a.log');
  });

  it('takes odd names', async () => {
    for (const name of [
      'a b',
      'quote\'"',
      '-dash',
      'line\nbreak',
      '*?[x]',
      '$(touch x)',
      'ü',
      '\\n',
    ]) {
      const path = `/workspace/odd/${name}`;
      expect((await call('create', path, { file_text: 'x' })).ok).toBe(true);
      expect((await call('view', path)).text).toBe('     1\tx');
      await call('str_replace', path, { old_str: 'x', new_str: 'y' });
      expect(await test.bytes(path)).toBe('y');
    }
    expect((await call('view', '/workspace/odd')).text.split('\n')).toHaveLength(9);
    await test.sh('rm -r /workspace/odd; [ ! -e /workspace/x ]');
  });

  it('lists the workspace two levels deep without what is hidden', async () => {
    const { text } = await call('view', '/workspace/');
    expect(text.split('\n').slice(0, 2)).toEqual(['/workspace:', 'a.txt']);
    expect(text).toContain('\nsrc/run.sh');
    expect(text).not.toContain('.git');
    expect(text).not.toContain('node_modules/dep');
    expect((await call('view', '/workspace', { view_range: [1, 2] })).ok).toBe(false);
  });

  it('undoes any number of edits of any bytes', async () => {
    const path = '/workspace/bytes.txt';
    const text = fc.constantFrom('a', 'b', '$&', 'x\ny', '\n', '', 'c\r\n');
    const edit = fc.record({ old_str: text, new_str: text });
    const start = fc.constantFrom(
      '\xefa\xff\r\nb\rc\n\t\xc3\xbc',
      'a\rb\rc',
      '\xef\xbb\xbfa\r\nb\r\n',
      '',
    );
    let undone = 0;
    await fc.assert(
      fc.asyncProperty(start, fc.array(edit, { maxLength: 6 }), async (bytes, edits) => {
        await test.put(path, Buffer.from(bytes, 'latin1'));
        editor = createEditorTool(test.session) as Tool;
        const states: string[] = [bytes];
        for (const { old_str, new_str } of edits) {
          const insert = { insert_line: 0, insert_text: new_str };
          const replaced = await call('str_replace', path, { old_str, new_str });
          if (replaced.ok || (await call('insert', path, insert)).ok) {
            states.push(await test.bytes(path));
          }
        }
        for (const state of states.slice(0, -1).toReversed()) {
          expect((await call('undo_edit', path)).ok).toBe(true);
          expect(await test.bytes(path)).toBe(state);
          undone += 1;
        }
        expect((await call('undo_edit', path)).ok).toBe(false);
      }),
      { numRuns: 10 },
    );
    expect(undone).toBeGreaterThan(0);
  });
});
