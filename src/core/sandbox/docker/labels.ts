import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { formatMark, isAlive, ownMark, parseMark } from '../../platform/process-mark.ts';

/** Everything of ours on an engine carries this label; its value says what it is. */
export const LABEL = 'prime-agent';
const SESSION = 'prime-agent.session';
const OWNER = 'prime-agent.owner';
const BOOT = 'prime-agent.boot';
const MACHINE = 'prime-agent.machine';

export type Labels = Readonly<Record<string, string>>;

/** An engine may serve several machines, and each can only tell which of its own processes live. */
async function thisMachine(): Promise<string> {
  const id = await readFile('/etc/machine-id', 'utf8').catch(() => '');
  return createHash('sha256').update(`${hostname()}\n${id}`).digest('hex').slice(0, 16);
}

/** Process numbers and start times begin anew with every start of the machine. */
async function thisBoot(): Promise<string> {
  const id = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return id.trim() || 'unknown';
}

/** Labels of a container or volume of this process. */
export async function sessionLabels(session: string): Promise<Labels> {
  const [machine, boot, owner] = await Promise.all([thisMachine(), thisBoot(), ownMark()]);
  return {
    [LABEL]: 'sandbox',
    [SESSION]: session,
    [OWNER]: formatMark(owner),
    [BOOT]: boot,
    [MACHINE]: machine,
  };
}

/** The filter for what this machine has on an engine, as the API takes it. */
export async function ownFilter(): Promise<{ readonly label: string[] }> {
  return { label: [`${LABEL}=sandbox`, `${MACHINE}=${await thisMachine()}`] };
}

/** Whether the process that made something on this machine is gone. */
export async function isLeftOver(labels: Labels): Promise<boolean> {
  const mark = parseMark(labels[OWNER] ?? '');
  if (mark === undefined) return false;
  const boot = labels[BOOT];
  if (boot !== undefined && boot !== (await thisBoot())) return true;
  return !(await isAlive(mark));
}
