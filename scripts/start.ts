import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { buildIfChanged, root } from "./source-hash.ts"

/**
 * `npm start`: runs the built command line, and builds it first if the sources have changed. Without a command it serves, so `npm start --
 * --port 9000` takes the options of `serve`.
 */
const status = buildIfChanged()
if (status !== 0) process.exit(status)

const [command] = process.argv.slice(2)
if (command === undefined || (command.startsWith("-") && command !== "--version")) process.argv.splice(2, 0, "serve")
await import(pathToFileURL(join(root, "dist/cli/main.js")).href)
