// The licences of what a bundle is made of: most ask that their text travels along.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {string} root folder with node_modules
 * @param {readonly string[]} inputs sources of the bundles, from `root`, as esbuild's metafile names them
 * @param {readonly string[]} packages that ship as they are
 * @returns text with one section per package, in the order of their names
 */
export function notices(root, inputs, packages) {
  const folders = new Set(packages.map((name) => `node_modules/${name}`));
  for (const input of inputs) {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match) folders.add(match[1]);
  }
  const sections = [...folders].map((folder) => section(join(root, folder)));
  sections.sort((a, b) => (a.title < b.title ? -1 : 1));
  const head = 'Prime Agent contains the following software.\n';
  return [head, ...sections.map(({ title, text }) => `${title}\n\n${text.trim()}\n`)].join(
    `\n${'-'.repeat(80)}\n\n`,
  );
}

function section(folder) {
  const { name, version, license, author, repository } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  if (!license) throw new Error(`${name} names no licence: do not ship it before that is known.`);
  const title = `${name} ${version} (${license})`;
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)(\.|$)/i.test(entry));
  if (file && existsSync(join(folder, file))) {
    return { title, text: readFileSync(join(folder, file), 'utf8') };
  }
  const by = typeof author === 'string' ? author : author?.name;
  const from = typeof repository === 'string' ? repository : repository?.url;
  return { title, text: [by && `By ${by}.`, from].filter(Boolean).join('\n') };
}
