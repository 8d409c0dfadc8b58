// The text of a file that the build inlines: `import style from './style.css?raw'`.
declare module '*?raw' {
  const text: string;
  export default text;
}
