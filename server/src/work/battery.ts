import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Power = 'mains' | 'battery' | 'unknown';

/** Where Linux says what supplies the machine: one folder for each battery and each socket. */
const SUPPLIES = '/sys/class/power_supply';

/**
 * Whether the machine runs on its battery now. `unknown`: nothing says it (another system, a machine
 * without a battery, a container that does not see it).
 */
export async function readPower(folder: string = SUPPLIES): Promise<Power> {
  const names = await readdir(folder).catch(() => []);
  let discharging = false;
  let known = false;
  for (const name of names) {
    const read = (file: string): Promise<string> =>
      readFile(join(folder, name, file), 'utf8').then(
        (text) => text.trim(),
        () => '',
      );
    const type = await read('type');
    if (type === 'Battery') {
      // A mouse has a battery, too.
      if ((await read('scope')) === 'Device') continue;
      known = true;
      discharging ||= (await read('status')) === 'Discharging';
    } else if (type === 'Mains' || type.startsWith('USB')) {
      if ((await read('online')) === '1') return 'mains';
    }
  }
  if (!known) return 'unknown';
  return discharging ? 'battery' : 'mains';
}
