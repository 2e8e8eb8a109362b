// Starts VS Code in a browser on a free port of this machine, with profile folders of its own.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './steps.mjs';

const keeper = fileURLToPath(new URL('./keeper.mjs', import.meta.url));

/**
 * Installs a VSIX into a folder for extensions.
 * @param {import('./vscode-web.mjs').VscodeWeb} vscode
 */
export async function installExtension(vscode, vsix, { extensions, userData }) {
  const args = [vscode.entry, ...profile({ extensions, userData }), '--install-extension', vsix];
  const env = { ...withoutEditor(process.env), XDG_DATA_HOME: join(userData, 'data') };
  const code = await run(vscode.node, args, { env });
  if (code !== 0) throw new Error(`VS Code could not install ${vsix} (see above).`);
}

/** Resolves when it accepts connections. Types: vscode-web-server.d.mts. */
export async function startVscodeWeb(vscode, options) {
  const args = [
    vscode.entry,
    '--auth',
    'none',
    '--bind-addr',
    `127.0.0.1:${options.port ?? 0}`,
    '--disable-telemetry',
    '--disable-update-check',
    '--disable-getting-started-override',
    ...profile(options),
    ...(options.trust === 'all' ? ['--disable-workspace-trust'] : []),
  ];
  const child = spawn(process.execPath, [keeper, vscode.node, ...args], {
    cwd: options.userData,
    env: {
      ...withoutEditor(options.env ?? process.env),
      // It keeps logs and a heartbeat there, whatever the profile is.
      XDG_DATA_HOME: join(options.userData, 'data'),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that its extension hosts end with it.
    detached: true,
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let log = '';
  const url = await new Promise((resolve, reject) => {
    const add = (part) => {
      log += String(part);
      const match = /HTTP server listening on (http:\/\/[\w.:]+)/.exec(log);
      if (match) resolve(match[1]);
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`VS Code ended with code ${code} before it could be used:\n${log}`)),
    );
  });
  return {
    url,
    log: () => log,
    exited,
    async close() {
      try {
        process.kill(-child.pid, 'SIGTERM');
      } catch {
        return;
      }
      const patience = setTimeout(() => kill(child.pid), 5000);
      await exited;
      clearTimeout(patience);
      kill(child.pid);
    },
  };
}

function profile({ extensions, userData }) {
  return [
    // It would write one into the user's own folder for settings.
    '--config',
    join(userData, 'code-server.yaml'),
    '--user-data-dir',
    userData,
    '--extensions-dir',
    extensions,
  ];
}

/** Whatever is left of the group. */
function kill(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is.
  }
}

/** Started from a terminal of an editor, code-server would talk to that editor and end. */
function withoutEditor(env) {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^(VSCODE_|ELECTRON_|CODE_SERVER_|PASSWORD$|HASHED_PASSWORD$)/.test(name),
    ),
  );
}
