/**
 * Breaks text into lines of at most `width` characters, at spaces. Blank lines separate paragraphs
 * and are kept. Words longer than a line are cut when `breakWords` is set.
 *
 * @param {string} text
 * @param {number} width
 * @param {{ indent?: string, hanging?: string, breakWords?: boolean }} [options]
 *   `indent` starts the first line of a paragraph, `hanging` the others.
 */
export function wrap(text, width, { indent = '', hanging = indent, breakWords = false } = {}) {
  if (width <= Math.max(indent.length, hanging.length)) {
    throw new RangeError(`width ${width} leaves no room for text`);
  }
  return text
    .split(/\n{2,}/)
    .map((paragraph) => wrapParagraph(paragraph, width, { indent, hanging, breakWords }))
    .join('\n\n');
}

function wrapParagraph(paragraph, width, { indent, hanging, breakWords }) {
  const lines = [];
  let line = indent;
  let empty = true;

  const flush = () => {
    lines.push(line);
    line = hanging;
    empty = true;
  };

  for (const word of paragraph.split(/\s+/).filter(Boolean)) {
    const needed = empty ? word.length : word.length + 1;
    if (line.length + needed < width) {
      line += empty ? word : ` ${word}`;
      empty = false;
      continue;
    }
    if (!empty) flush();
    let rest = word;
    while (breakWords && line.length + rest.length > width) {
      const room = width - line.length;
      line += rest.slice(0, room);
      rest = rest.slice(room);
      flush();
    }
    line += rest;
    empty = rest === '';
  }
  if (!empty) lines.push(line);
  return lines.join('\n');
}
