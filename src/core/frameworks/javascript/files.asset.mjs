// Files of a project by folder and pattern, for Node versions without fs.glob.
import fs from 'node:fs';
import path from 'node:path';

/** Files below a folder of the working directory, in order; no dependencies, nothing hidden. */
export function walk(folder, visit) {
  let entries;
  try {
    entries = fs.readdirSync(path.resolve(folder), { withFileTypes: true });
  } catch {
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && !entry.name.startsWith('.')) walk(name, visit);
    } else visit(name);
  }
}

export function globToRegExp(glob) {
  let source = '';
  let depth = 0;
  for (let index = 0; index < glob.length; index += 1) {
    const char = glob[index];
    if (glob.startsWith('**/', index)) {
      source += '(?:.*/)?';
      index += 2;
    } else if (glob.startsWith('**', index)) {
      source += '.*';
      index += 1;
    } else if (char === '*') source += '[^/]*';
    else if (char === '?') source += '[^/]';
    else if (char === '{') {
      source += '(?:';
      depth += 1;
    } else if (char === '}' && depth > 0) {
      source += ')';
      depth -= 1;
    } else if (char === ',' && depth > 0) source += '|';
    else if (char === '[' && glob.includes(']', index)) {
      const end = glob.indexOf(']', index);
      source += `[${glob.slice(index + 1, end).replace(/^!/, '^')}]`;
      index = end;
    } else if (/[@?+*!]/.test(char) && glob[index + 1] === '(') source += '';
    else source += char.replace(/[.+^$()|\\\]}]/g, '\\$&');
  }
  return new RegExp(`^${source}$`);
}
