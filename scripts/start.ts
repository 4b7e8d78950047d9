/** The command line as built; without arguments it serves, and shows a scripted agent where there is no key for a real one. */
if (process.argv.length === 2) process.argv.push("serve")
const { href } = new URL("../dist/cli/main.js", import.meta.url)
await import(href)
