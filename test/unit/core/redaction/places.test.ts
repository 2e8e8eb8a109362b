import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../../src/core/redaction/redactor.ts';

const redactor = createRedactor({
  workspacePath: '/home/janedoe/src/shop',
  home: '/home/janedoe',
  userName: 'janedoe',
  hostName: 'janes-x13.example.lan',
});

describe('places and names', () => {
  test.each([
    ['/home/janedoe/src/shop/src/cart.js:3', '/workspace/src/cart.js:3'],
    ['at file:///home/janedoe/src/shop/a.js', 'at file:///workspace/a.js'],
    ['"/home/janedoe/src/shop"', '"/workspace"'],
    ['/home/janedoe/src/shop.', '/workspace.'],
    ['/home/janedoe/src/shop2/a', '/home/user/src/shop2/a'],
    ['/home/janedoe/src/shop-old/a', '/home/user/src/shop-old/a'],
    ['/home/janedoe/src/shop.bak/a', '/home/user/src/shop.bak/a'],
    ['cd /home/janedoe', 'cd /home/user'],
    ['-I/home/janedoe/include', '-I/home/user/include'],
    ['"Error\\n/home/janedoe/x"', '"Error\\n/home/user/x"'],
    ['/mnt/home/janedoe/x', '/mnt/home/user/x'],
    ['/Users/janedoe/x', '/Users/user/x'],
    ['janedoe@janes-x13:~$', 'user@host:~$'],
    ['drwxr-xr-x 2 janedoe janedoe 4096 .', 'drwxr-xr-x 2 user user 4096 .'],
    ['connect to janes-x13.example.lan:80', 'connect to host:80'],
    ['COMPUTERNAME=JANES-X13', 'COMPUTERNAME=host'],
    ['xjanedoex', 'xjanedoex'],
    ['/tmp/pytest-of-janedoe/x', '/tmp/pytest-of-user/x'],
  ])('%s', async (text, expected) => {
    expect(await redactor.redact(text)).toBe(expected);
    expect(await redactor.holdsSecret(text)).toBe(false);
  });

  test('a path with a space is found in a URL too', async () => {
    const spaced = createRedactor({ workspacePath: '/srv/my work/shop', home: '/srv/own' });
    expect(await spaced.redact('file:///srv/my%20work/shop/a.js, /srv/my work/shop')).toBe(
      'file:///workspace/a.js, /workspace',
    );
  });

  test('Windows paths, with either slash and doubled', async () => {
    const windows = createRedactor({
      workspacePath: 'C:\\Users\\janedoe\\shop',
      home: 'C:\\Users\\janedoe',
      userName: 'janedoe',
    });
    expect(await windows.redact('C:\\Users\\janedoe\\shop\\a.js')).toBe('/workspace\\a.js');
    expect(await windows.redact('C:/Users/janedoe/shop/a.js')).toBe('/workspace/a.js');
    expect(await windows.redact('"C:\\\\Users\\\\janedoe\\\\x"')).toBe('"/home/user\\\\x"');
  });

  test.each(['root', 'node', 'user', 'test', 'mark', 'sam', 'al'])(
    'a user called %s changes no code',
    async (userName) => {
      const common = createRedactor({ userName, home: `/home/${userName}` });
      const code = `const ${userName} = find('${userName}'); // ${userName}`;
      expect(await common.redact(code)).toBe(code);
      expect(await common.redact(`/home/${userName}/x`)).toBe('/home/user/x');
      const shown = await common.redact(`${userName}@box:~$`);
      expect(shown).toBe('user@box:~$');
    },
  );

  test('root has a home too, and only as a path of its own', async () => {
    const root = createRedactor({ home: '/root', userName: 'root' });
    expect(await root.redact('/root/.npmrc')).toBe('/home/user/.npmrc');
    expect(await root.redact('lib/root/x ./root/x /srv/root/x')).toBe(
      'lib/root/x ./root/x /srv/root/x',
    );
    expect(await root.redact('/rootless')).toBe('/rootless');
  });

  test('redacting twice is redacting once', async () => {
    const piece = fc.constantFrom(
      '/home/janedoe/src/shop',
      '/home/janedoe',
      'janedoe',
      'janes-x13',
      '.example.lan',
      '/home/',
      '/',
      '@',
      '-',
      'user',
      'x',
      ' ',
      '\n',
      '/workspace',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const once = await redactor.redact(pieces.join(''));
        expect(await redactor.redact(once)).toBe(once);
      }),
      { numRuns: 300 },
    );
  });
});
