import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Theme } from './editor.ts';
import type { Workbench } from './workbench.ts';

/** Windows are kept there as documentation; without it they are only walked through. */
const pictures = process.env.PRIME_AGENT_PICTURES;

/** `kind`: the class that the window has then. */
export const THEMES: readonly { readonly theme: Theme; readonly kind: string }[] = [
  { theme: 'light', kind: 'vs' },
  { theme: 'dark', kind: 'vs-dark' },
  { theme: 'high-contrast', kind: 'hc-black' },
];

export async function keepPicture(workbench: Workbench, name: string): Promise<void> {
  if (pictures === undefined) return;
  await mkdir(resolve(pictures), { recursive: true });
  await workbench.screenshot(join(resolve(pictures), `${name}.png`));
}
