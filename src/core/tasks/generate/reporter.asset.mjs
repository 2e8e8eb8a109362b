// One JSON line per test, and one when the run has come to its end.
// biome-ignore lint/style/noDefaultExport: Node asks for the reporter as the default export.
export default async function* report(source) {
  const suites = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') suites[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details?.type === 'suite') continue;
    const name = [...suites.slice(0, data.nesting), data.name].join(' > ');
    yield `${JSON.stringify({ file: data.file, name, passed: type === 'test:pass' })}\n`;
  }
  yield '{"end":true}\n';
}
