import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { shellQuote } from '../platform/shell-quote.ts';
import { SYSTEM_PATH } from './environment.ts';
import {
  type ExecResult,
  type FileInfo,
  type ListedEntry,
  SandboxFailure,
  SandboxFileError,
  type SandboxFiles,
} from './sandbox.ts';
import type { PathMapping, SupervisorClient } from './supervisor/supervisor-client.ts';

const TIMEOUT_MS = 60_000;
const ANSWER_BYTES = 65_536;

/** Exit codes with which the scripts below say what was wrong. */
const MISSING = 44;
const NOT_A_FILE = 45;
const PERMISSION = 46;

const KINDS = new Map<number, FileInfo['kind']>([
  [0o100000, 'file'],
  [0o040000, 'directory'],
]);

function errorOf(path: string, doing: string, code: number, said: string): SandboxFileError {
  if (code === MISSING) return new SandboxFileError('missing', `${path} does not exist.`);
  if (code === NOT_A_FILE)
    return new SandboxFileError('not-a-file', `${path} is not a regular file.`);
  if (code === PERMISSION) {
    return new SandboxFileError('permission', `No permission to ${doing} ${path}.`);
  }
  const reason = said.trim().split('\n').pop() ?? '';
  if (/No space left|quota exceeded/i.test(reason)) {
    return new SandboxFileError(
      'no-space',
      `Cannot ${doing} ${path}: no space is left on the disk.`,
    );
  }
  if (/Permission denied|Read-only file system|Operation not permitted/.test(reason)) {
    return new SandboxFileError('permission', `No permission to ${doing} ${path}.`);
  }
  if (/File too large/.test(reason) || code === 128 + 25) {
    return new SandboxFileError(
      'too-large',
      `Cannot ${doing} ${path}: larger than files may become here.`,
    );
  }
  if (/Not a directory/.test(reason)) {
    return new SandboxFileError(
      'missing',
      `Cannot ${doing} ${path}: a part of it is not a folder.`,
    );
  }
  return new SandboxFileError(
    'other',
    `Cannot ${doing} ${path}: ${reason.split(': ').pop() || `code ${code}`}`,
  );
}

/** Content that fits into the script itself, which spares two processes. */
function shortText(content: Uint8Array): string | undefined {
  if (content.length > 65_536 || content.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

/** `path` under `to` when it is `from` or lies in it. */
function moved(path: string, from: string, to: string): string {
  const folder = from.replace(/\/+$/, '');
  if (folder === '' || (path !== folder && !path.startsWith(`${folder}/`))) return path;
  return to + path.slice(folder.length);
}

/** File access by small bash scripts in the sandbox: it sees what commands see, and no more. */
export function createSandboxFiles(
  client: SupervisorClient,
  options: {
    /** Where nothing can be mounted: how paths inside relate to those of the host. */
    readonly paths?: PathMapping;
    /** A folder that is mounted at two places: real paths name `to`, whichever way led there. */
    readonly samePlace?: { readonly from: string; readonly to: string };
  },
): SandboxFiles {
  const { paths, samePlace } = options;
  const toHost = (path: string): string => paths?.toHost(path) ?? path;
  const fromHost = (bytes: Uint8Array): string => {
    const replacer = paths?.fromHost();
    if (replacer === undefined) return Buffer.from(bytes).toString('utf8');
    return Buffer.concat([replacer.push(bytes), replacer.end()]).toString('utf8');
  };

  const perform = async (
    path: string,
    script: string,
    maxOutputBytes: number,
    stdin?: Uint8Array,
  ): Promise<{ readonly code: number; readonly output: Uint8Array }> => {
    if (path.includes('\0')) throw new SandboxFileError('missing', 'The path holds a NUL byte.');
    if (!posix.isAbsolute(path)) {
      throw new SandboxFileError('missing', `${path} is not an absolute path.`);
    }
    // The system's programs, not those that a command put into a tool chain's folder.
    const text = `p_path=${shellQuote(toHost(path))}\nPATH=${SYSTEM_PATH}:$PATH\n${script}`;
    const result: ExecResult = await client.script(text, stdin, {
      timeoutMs: TIMEOUT_MS,
      maxOutputBytes,
    });
    if (result.end.kind !== 'exited') {
      throw new SandboxFailure(`Access to ${path} inside the sandbox did not end in time.`);
    }
    const { head, tail } = result.output;
    return { code: result.end.code, output: tail.length > 0 ? Buffer.concat([head, tail]) : head };
  };

  return {
    inspect: async (path) => {
      const { code, output } = await perform(
        path,
        `[[ -L $p_path ]] && printf '1 ' || printf '0 '
stat -L --printf '%f %s' -- "$p_path" 2>&1
printf '\\0'
if [[ ! -L $p_path ]]; then
  # Without a program where possible: the shell itself resolves folders.
  if [[ -d $p_path ]]; then
    builtin cd -P -- "$p_path" && printf '%s\\0' "$PWD" && exit
  elif builtin cd -P -- "\${p_path%/*}/" 2>/dev/null; then
    [[ $PWD != / ]] || PWD=
    printf '%s/%s\\0' "$PWD" "\${p_path##*/}"
    exit
  fi
fi
exec realpath -mz -- "$p_path"`,
        ANSWER_BYTES,
      );
      const split = output.indexOf(0);
      const said = Buffer.from(output.subarray(0, split)).toString();
      const isSymlink = said.startsWith('1');
      const resolved = fromHost(output.subarray(split + 1, output.length - 1));
      const realPath =
        samePlace === undefined ? resolved : moved(resolved, samePlace.from, samePlace.to);
      const found = /^. ([0-9a-f]+) (\d+)$/.exec(said);
      if (found === null) {
        const reason = said.trim().split(': ').pop();
        if (reason === 'No such file or directory' || reason === 'Not a directory') {
          return { kind: 'missing', realPath, isSymlink, size: 0, mode: 0 };
        }
        throw errorOf(path, 'look at', 1, said);
      }
      if (code !== 0) throw errorOf(path, 'look at', code, realPath);
      const [, modeText = '0', sizeText] = found;
      const mode = Number.parseInt(modeText, 16);
      return {
        kind: KINDS.get(mode & 0o170000) ?? 'other',
        realPath,
        isSymlink,
        size: Number(sizeText),
        mode: mode & 0o7777,
      };
    },

    read: async (path, maxBytes) => {
      const { code, output } = await perform(
        path,
        `[[ -e $p_path ]] || exit ${MISSING}
[[ -f $p_path ]] || exit ${NOT_A_FILE}
[[ -r $p_path ]] || exit ${PERMISSION}
exec head -c ${maxBytes + 1} <"$p_path"`,
        maxBytes + ANSWER_BYTES,
      );
      if (code !== 0) throw errorOf(path, 'read', code, Buffer.from(output).toString('utf8'));
      if (output.length > maxBytes) {
        throw new SandboxFileError('too-large', `${path} is larger than ${maxBytes} bytes.`);
      }
      return output;
    },

    write: async (path, content) => {
      const text = shortText(content);
      const fill = text === undefined ? 'cat' : `printf %s ${shellQuote(text)}`;
      const { code, output } = await perform(
        path,
        `if [[ -L $p_path ]]; then
  p_path=$(realpath -m -- "$p_path" && printf x) || exit 1
  p_path=\${p_path%$'\\n'x}
fi
[[ ! -e $p_path || -f $p_path ]] || exit ${NOT_A_FILE}
[[ ! -e $p_path || -w $p_path ]] || exit ${PERMISSION}
p_folder=\${p_path%/*}/
[[ -d $p_folder ]] || mkdir -p -- "$p_folder" || exit 1
p_new=$p_folder.prime-${randomBytes(6).toString('hex')}
set -C
${fill} >"$p_new" || { p_code=$?; rm -f -- "$p_new"; exit "$p_code"; }
if [[ -e $p_path ]]; then chmod --reference="$p_path" -- "$p_new"; fi &&
  mv -fT -- "$p_new" "$p_path" || { rm -f -- "$p_new"; exit 1; }`,
        ANSWER_BYTES,
        text === undefined ? content : undefined,
      );
      if (code !== 0) throw errorOf(path, 'write', code, Buffer.from(output).toString('utf8'));
    },

    remove: async (path) => {
      const { code, output } = await perform(
        path,
        `[[ -e $p_path || -L $p_path ]] || exit ${MISSING}
exec rm -rf -- "$p_path"`,
        ANSWER_BYTES,
      );
      if (code !== 0) throw errorOf(path, 'remove', code, Buffer.from(output).toString('utf8'));
    },

    list: async (path, depth, limit) => {
      const { code, output } = await perform(
        path,
        `[[ -e $p_path ]] || exit ${MISSING}
[[ -d $p_path ]] || exit ${NOT_A_FILE}
[[ -r $p_path && -x $p_path ]] || exit ${PERMISSION}
p_left=${limit}
shopt -s nullglob
shopt -u dotglob failglob
p_walk() {
  local entry kind
  for entry in "$1"/*; do
    ((p_left-- > 0)) || exit 0
    if [[ -L $entry ]]; then kind=symlink
    elif [[ -d $entry ]]; then kind=directory
    elif [[ -f $entry ]]; then kind=file
    else kind=other; fi
    printf '%s %s\\0' "$kind" "\${entry:\${#p_root}}"
    if [[ $kind == directory ]] && (($2 > 1)); then p_walk "$entry" $(($2 - 1)); fi
  done
}
p_root=\${p_path%/}
p_walk "$p_root" ${depth}`,
        ANSWER_BYTES + limit * 4096,
      );
      if (code === NOT_A_FILE) throw new SandboxFileError('not-a-file', `${path} is not a folder.`);
      if (code !== 0) throw errorOf(path, 'list', code, Buffer.from(output).toString('utf8'));
      const root = path.replace(/\/+$/, '');
      const entries: ListedEntry[] = [];
      for (const line of Buffer.from(output).toString('utf8').split('\0')) {
        const space = line.indexOf(' ');
        if (space < 0) continue;
        const kind = line.slice(0, space);
        if (kind !== 'file' && kind !== 'directory' && kind !== 'symlink' && kind !== 'other')
          continue;
        entries.push({ path: root + line.slice(space + 1), kind });
      }
      return entries;
    },
  };
}
