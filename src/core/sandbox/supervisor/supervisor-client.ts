import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { shellQuote } from '../../platform/shell-quote.ts';
import {
  type ExecEnd,
  type ExecOptions,
  type ExecResult,
  type ProgramRequest,
  SandboxFailure,
} from '../sandbox.ts';
import { HeadAndTail, type StreamReplacer, WordFinder } from './output.ts';

/** The supervisor's process, however it was started. */
export interface SupervisorProcess {
  readonly requests: Writable;
  readonly output: Readable;
  readonly control: Readable;
  /** Settles when the process is gone; the text says how, for people. Never rejects. */
  readonly exited: Promise<string>;
  /** Ends it without asking. In a namespace everything inside ends with it. */
  kill(): void;
}

/** How paths inside relate to those of the host, where nothing can be mounted. */
export interface PathMapping {
  toHost(text: string): string;
  fromHost(): StreamReplacer;
}

export interface SupervisorClient {
  /** Settles when the supervisor reads requests; rejects with `SandboxFailure` if it never does. */
  ready(): Promise<void>;
  shell(command: string, options: ExecOptions): Promise<ExecResult>;
  run(request: ProgramRequest, options: ExecOptions): Promise<ExecResult>;
  /**
   * Our own bash text in a fork of the supervisor (no program starts): for file access. Its output
   * is passed on without mapping of paths.
   */
  script(text: string, stdin: Uint8Array | undefined, options: ExecOptions): Promise<ExecResult>;
  restartShell(): Promise<void>;
  close(): Promise<void>;
}

/** How long it may take to start, on a loaded machine. */
const START_MS = 20_000;
/** A call that is stopped returns after this, whether or not the supervisor has answered. */
const GRACE_MS = 800;
/** When it has not answered by then, it is ended by force. */
const FORCE_MS = 10_000;
/** The word END comes right after the control line; this is only for a command that steals it. */
const FLUSH_MS = 1_000;
const PING_MS = 250;
/** Background processes that print more than this between calls are silenced at their relay. */
const IDLE_BYTES = 16_384;

interface Call {
  readonly id: number;
  readonly startWord: WordFinder;
  readonly endWord: WordFinder;
  readonly kept: HeadAndTail;
  readonly replacer: StreamReplacer | undefined;
  readonly onOutput: ((chunk: Uint8Array) => void) | undefined;
  state: 'before' | 'inside' | 'after';
  end: ExecEnd | undefined;
  /** The supervisor has said that the call is over. */
  over: boolean;
  finish(): void;
  fail(error: Error): void;
}

interface Script {
  readonly kind: 'shell' | 'run';
  readonly text: string;
  readonly capture: 'merge' | 'stdout';
  readonly stdin: Uint8Array | undefined;
  readonly raw: boolean;
}

const EMPTY = { head: new Uint8Array(0), tail: new Uint8Array(0), omittedBytes: 0 } as const;

function refuse(message: string, code: number): ExecResult {
  return {
    end: { kind: 'exited', code },
    output: { ...EMPTY, head: Buffer.from(`bash: ${message}\n`) },
    durationMs: 0,
  };
}

export function createSupervisorClient(
  supervisor: SupervisorProcess,
  options: {
    readonly workspace: string;
    readonly paths?: PathMapping;
    /** What the process printed when it never became ready goes into the failure. */
    readonly describe: string;
    /** How long it may take to end everything by itself; longer where no namespace does it. */
    readonly closeMs?: number;
    /** What to do when it ends unexpectedly, for people. */
    readonly remedy?: string;
  },
): SupervisorClient {
  let nextId = 1;
  let current: Call | undefined;
  let closed = false;
  let gone: string | undefined;
  let idleBytes = 0;
  let controlText = '';
  let waiting: { readonly line: string; readonly done: () => void } | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const strayControl: string[] = [];
  const stopping = new Map<number, NodeJS.Timeout>();

  const failure = (): SandboxFailure => {
    if (closed) return new SandboxFailure('The sandbox was closed.');
    const said = strayControl.join('\n').trim();
    return new SandboxFailure(
      `The sandbox (${options.describe}) ended unexpectedly: ${gone ?? 'no answer'}${said ? `\n${said}` : ''}`,
      options.remedy ?? 'Run `prime-agent doctor`; it tries the sandbox and names what is missing.',
    );
  };

  const send = (text: string, ...more: Uint8Array[]): void => {
    if (gone !== undefined || !supervisor.requests.writable) return;
    supervisor.requests.write(Buffer.concat([Buffer.from(text), ...more]));
  };

  const feed = (call: Call, chunk: Uint8Array): void => {
    const bytes = call.replacer ? call.replacer.push(chunk) : chunk;
    if (bytes.length === 0) return;
    call.kept.push(bytes);
    call.onOutput?.(bytes);
  };

  supervisor.output.on('data', (chunk: Buffer) => {
    const call = current;
    if (call === undefined || call.state === 'after') {
      if (idleBytes <= IDLE_BYTES && idleBytes + chunk.length > IDLE_BYTES) send('quiet\n');
      idleBytes += chunk.length;
      return;
    }
    let rest: Buffer = chunk;
    if (call.state === 'before') {
      const { after } = call.startWord.push(rest);
      if (after === undefined) return;
      call.state = 'inside';
      rest = after;
    }
    const { before, after } = call.endWord.push(rest);
    feed(call, before);
    if (after === undefined) return;
    call.state = 'after';
    if (call.over) call.finish();
  });

  const over = (id: number, end: ExecEnd): void => {
    const call = current;
    if (call === undefined || call.id !== id || call.over) return;
    call.over = true;
    call.end ??= end;
    if (call.state === 'after') call.finish();
    else setTimeout(() => call.finish(), FLUSH_MS).unref();
  };

  let becomeReady = (): void => {};
  const isReady = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });

  const onControl = (line: string): void => {
    if (line === 'ready') {
      becomeReady();
      return;
    }
    if (waiting?.line === line) {
      waiting.done();
      waiting = undefined;
      return;
    }
    const [verb, idText, codeText] = line.split(' ');
    const id = Number(idText);
    if (verb === 'end') over(id, { kind: 'exited', code: Number(codeText) });
    else if (verb === 'killed') {
      clearTimeout(stopping.get(id));
      stopping.delete(id);
      over(id, { kind: 'exited', code: 137 });
    } else if (verb === 'lost') {
      // The command killed everything, its own runner included (`kill -9 -1`).
      if (current?.id === id && !current.over) send(`kill ${id}\n`);
    } else if (verb !== 'restarted') {
      strayControl.push(line);
      if (strayControl.length > 20) strayControl.shift();
    }
  };

  supervisor.control.on('data', (chunk: Buffer) => {
    const lines = (controlText + chunk.toString('latin1')).split('\n');
    controlText = (lines.pop() ?? '').slice(-4096);
    for (const line of lines) onControl(line);
  });
  // A broken pipe shows as the end of the process; without a listener it would end this one.
  for (const stream of [supervisor.requests, supervisor.output, supervisor.control]) {
    stream.on('error', () => {});
  }

  const ended = supervisor.exited.then((how) => {
    gone = how;
    if (controlText.trim() !== '') strayControl.push(controlText);
    waiting?.done();
    for (const timer of stopping.values()) clearTimeout(timer);
    const call = current;
    if (call === undefined) return;
    if (closed) call.end ??= { kind: 'cancelled' };
    if (call.end !== undefined) call.finish();
    else call.fail(failure());
  });

  const perform = (script: Script, exec: ExecOptions): Promise<ExecResult> => {
    if (gone !== undefined || closed) return Promise.reject(failure());
    const started = performance.now();
    return new Promise<ExecResult>((resolve, reject) => {
      const id = nextId++;
      const startWord = randomBytes(16).toString('hex');
      const endWord = randomBytes(16).toString('hex');
      const timers = new Set<NodeJS.Timeout>();
      const later = (ms: number, action: () => void): void => {
        timers.add(setTimeout(action, ms));
      };
      const settle = (): void => {
        for (const timer of timers) clearTimeout(timer);
        exec.signal?.removeEventListener('abort', onAbort);
        current = undefined;
        idleBytes = 0;
      };
      const call: Call = {
        id,
        startWord: new WordFinder(startWord),
        endWord: new WordFinder(endWord),
        kept: new HeadAndTail(exec.maxOutputBytes),
        replacer: script.raw ? undefined : options.paths?.fromHost(),
        onOutput: exec.onOutput,
        state: 'before',
        end: undefined,
        over: false,
        finish: () => {
          if (current !== call) return;
          if (call.state === 'inside') feed(call, call.endWord.rest());
          const last = call.replacer?.end();
          if (last !== undefined && last.length > 0) {
            call.kept.push(last);
            call.onOutput?.(last);
          }
          settle();
          resolve({
            end: call.end ?? { kind: 'cancelled' },
            output: call.kept.result(),
            durationMs: performance.now() - started,
          });
        },
        fail: (error) => {
          if (current !== call) return;
          settle();
          reject(error);
        },
      };
      const stop = (end: ExecEnd): void => {
        if (call.end !== undefined) return;
        call.end = end;
        send(`kill ${id}\n`);
        stopping.set(
          id,
          setTimeout(() => supervisor.kill(), FORCE_MS),
        );
        later(GRACE_MS, () => call.finish());
      };
      const onAbort = (): void => stop({ kind: 'cancelled' });
      const ping = (): void => {
        if (!call.over) send(`ping ${id}\n`);
        later(PING_MS, ping);
      };
      current = call;
      exec.signal?.addEventListener('abort', onAbort);
      later(Math.min(exec.timeoutMs, 2_147_483_647), () => stop({ kind: 'timeout' }));
      later(PING_MS, ping);
      const text = Buffer.from(script.text);
      const stdin = script.stdin;
      send(
        `call ${id} ${startWord} ${endWord} ${script.kind} ${script.capture} ${stdin?.length ?? '-'} ${text.length}\n`,
        text,
        stdin ?? new Uint8Array(0),
      );
    });
  };

  /** One at a time; a call that is cancelled while it waits ends at once. */
  const serialised = (script: Script, exec: ExecOptions): Promise<ExecResult> => {
    const cancelled: ExecResult = { end: { kind: 'cancelled' }, output: EMPTY, durationMs: 0 };
    let started = false;
    const turn = queue.then(() => {
      started = true;
      return exec.signal?.aborted ? cancelled : perform(script, exec);
    });
    queue = turn.catch(() => {});
    const signal = exec.signal;
    if (signal === undefined) return turn;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (!started) resolve(cancelled);
      };
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      void turn.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  };

  const toHost = (text: string): string => options.paths?.toHost(text) ?? text;

  return {
    ready: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<string>((resolve) => {
        timer = setTimeout(resolve, START_MS, `no answer within ${START_MS / 1000} s`);
      });
      const how = await Promise.race([isReady, supervisor.exited, late]);
      clearTimeout(timer);
      if (how === undefined) return;
      gone ??= how;
      throw failure();
    },
    shell: async (command, exec) => {
      if (command.includes('\0'))
        return refuse('the command holds a NUL byte, which no shell takes', 2);
      return serialised(
        {
          kind: 'shell',
          text: `__prime_command=${shellQuote(toHost(command))}\n`,
          capture: 'merge',
          stdin: undefined,
          raw: false,
        },
        exec,
      );
    },
    run: async (request, exec) => {
      const lines = [
        `builtin cd -- ${shellQuote(toHost(request.cwd ?? options.workspace))} || exit 126`,
      ];
      for (const [name, value] of Object.entries(request.env ?? {})) {
        if (!/^[A-Za-z_]\w*$/.test(name)) return refuse(`${name}: not a name of a variable`, 2);
        lines.push(`export ${name}=${shellQuote(toHost(value))}`);
      }
      const [program, ...rest] = request.argv.map((word) => shellQuote(toHost(word)));
      if (program === undefined) return refuse('no program was named', 2);
      lines.push(
        `builtin type -P -- ${program} >/dev/null || { builtin printf '%s: command not found\\n' ${program} >&2; exit 127; }`,
        `exec -- ${[program, ...rest].join(' ')}`,
        '',
      );
      const text = lines.join('\n');
      if (text.includes('\0'))
        return refuse('an argument holds a NUL byte, which no program takes', 2);
      return serialised(
        {
          kind: 'run',
          text,
          capture: request.capture ?? 'merge',
          stdin: request.stdin,
          raw: false,
        },
        exec,
      );
    },
    script: (text, stdin, exec) =>
      serialised({ kind: 'run', text, capture: 'merge', stdin, raw: true }, exec),
    restartShell: () => {
      const turn = queue.then(async () => {
        if (gone !== undefined || closed) throw failure();
        const id = nextId++;
        const answered = await new Promise<boolean>((resolve) => {
          const timer = setTimeout(() => resolve(false), 5_000);
          waiting = {
            line: `restarted ${id}`,
            done: () => {
              clearTimeout(timer);
              resolve(gone === undefined);
            },
          };
          send(`restart ${id}\n`);
        });
        if (!answered) {
          supervisor.kill();
          throw failure();
        }
      });
      queue = turn.catch(() => {});
      return turn;
    },
    close: async () => {
      closed = true;
      if (gone === undefined) supervisor.requests.end('quit\n');
      const timer = setTimeout(() => supervisor.kill(), options.closeMs ?? GRACE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
