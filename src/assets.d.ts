// Files that are shipped as text inside the bundle (shell, Python, plain JavaScript for the sandbox).
declare module '*.sh' {
  const text: string;
  export default text;
}
declare module '*.py' {
  const text: string;
  export default text;
}
declare module '*.asset.mjs' {
  const text: string;
  export default text;
}
declare module '*.asset.cjs' {
  const text: string;
  export default text;
}
