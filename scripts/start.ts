/** The command line as built; without arguments it shows what becomes of the bundled sample. */
if (process.argv.length === 2)
  process.argv.push("compact", "examples/sample-session.json", "--budget", "6000", "--show")
const { href } = new URL("../dist/cli/main.js", import.meta.url)
await import(href)
