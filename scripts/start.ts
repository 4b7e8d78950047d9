/** `npm start`: the command line as built. Without a command it serves, so `npm start -- --port 9000` takes the options of `serve`. */
const [command] = process.argv.slice(2)
if (command === undefined || (command.startsWith("-") && command !== "--version")) process.argv.splice(2, 0, "serve")
const { href } = new URL("../dist/cli/main.js", import.meta.url)
await import(href)
