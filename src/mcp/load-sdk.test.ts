import { execFile } from "node:child_process"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const file = (name: string): string => JSON.stringify(pathToFileURL(`${import.meta.dirname}/${name}`).href)

/** What comes of starting a server in a process that has not this package. */
async function startWithout(name: string): Promise<string> {
  const script = `
    import { registerHooks } from "node:module"
    registerHooks({ resolve(from, context, next) {
      if (from === ${JSON.stringify(name)} || from.startsWith(${JSON.stringify(`${name}/`)}))
        throw Object.assign(new Error("Cannot find package '${name}' imported from here"), { code: "ERR_MODULE_NOT_FOUND" })
      return next(from, context)
    } })
    const { createMcpServer } = await import(${file("create-server.ts")})
    const { sampleSource } = await import(${file("../../test/fixtures/mcp/sample-source.ts")})
    await createMcpServer(sampleSource).then(() => console.log("started"), ({ problem }) => console.log(JSON.stringify(problem)))`
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])
  return stdout.trim()
}

test.each(["@modelcontextprotocol/sdk", "zod"])("without %s the problem says what to install", async (name) => {
  const problem = { code: "package-missing", package: name, purpose: "the MCP server" }
  expect(JSON.parse(await startWithout(name))).toEqual(problem)
})

test("with both it starts", async () => {
  expect(await startWithout("no-such-package")).toBe("started")
})
