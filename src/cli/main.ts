#!/usr/bin/env node
// Nothing is imported before the version is checked: the other files use syntax that an old Node cannot parse.
const minNode = 22

if (Number(process.versions.node.split(".")[0]) < minNode) {
  process.stderr.write(`holdfast needs Node.js ${minNode} or newer, and this is ${process.versions.node}.\n`)
  process.exitCode = 1
} else {
  const { run } = await import("./run.ts")
  const { openWorld } = await import("./world.ts")
  process.exitCode = await run(process.argv.slice(2), openWorld(process))
}

export {}
