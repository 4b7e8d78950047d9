import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, request, type Server } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"
import { root } from "../support/source.ts"

/** The nginx example, run by nginx: `HOLDFAST_NGINX` names the program if it is not on the path. */
const nginx = process.env.HOLDFAST_NGINX ?? "nginx"
const isThere = spawnSync(nginx, ["-v"]).error === undefined

/** A model that sends one word, and the rest when told to. */
type Provider = { readonly server: Server; readonly sizes: number[]; readonly goOn: () => void }

function createProvider(): Provider {
  const sizes: number[] = []
  const rest: (() => void)[] = []
  const chunk = (content: string): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
  const server = createServer((incoming, response) => {
    let size = 0
    incoming.on("data", (data: Buffer) => {
      size += data.length
    })
    incoming.on("end", () => {
      sizes.push(size)
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(chunk("first"))
      rest.push(() => response.end(`${chunk(" last")}data: [DONE]\n\n`))
    })
  })
  return { server, sizes, goOn: () => rest.splice(0).map((end) => end()) }
}

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Returns the example unchanged except for what depends on the machine: the ports, the gateway's address, and writable folders. */
function exampleFor(port: number, gateway: TestGateway, folder: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  const text = readFileSync(join(root, "docs/nginx.conf"), "utf8")
    .replace(/^\s*resolver .*$/m, "")
    .replace(/server gateway:4141 resolve;/, `server 127.0.0.1:${gateway.port};`)
    .replace(/listen 4141;/, `listen 127.0.0.1:${port};`)
    .replace(/http \{/, `http {\n  access_log off;\n  ${temporary.join("\n  ")}`)
  expect(text).toContain(`server 127.0.0.1:${gateway.port};`)
  expect(text).toContain(`listen 127.0.0.1:${port};`)
  return `daemon off;\nmaster_process off;\npid ${folder}/pid;\nerror_log ${folder}/error.log;\n${text}`
}

async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, "127.0.0.1", () => resolve(true))
  socket.on("error", () => resolve(false))
  const answer = await promise
  socket.destroy()
  return answer
}

const why = isThere ? "" : " (skipped: nginx is neither on the path nor named by HOLDFAST_NGINX)"

describe.skipIf(!isThere)(`behind nginx, as docs/nginx.conf has it${why}`, () => {
  const provider = createProvider()
  let gateway: TestGateway
  let proxy: ChildProcess | undefined
  let port = 0
  const folder = mkdtempSync(join(tmpdir(), "holdfast-nginx-"))

  beforeAll(async () => {
    await new Promise<void>((resolve) => provider.server.listen(0, "127.0.0.1", resolve))
    gateway = await startTestGateway(`http://127.0.0.1:${(provider.server.address() as AddressInfo).port}`)
    port = await freePort()
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "nginx.conf"), exampleFor(port, gateway, folder))
    proxy = spawn(nginx, ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], {
      stdio: "ignore",
    })
    const until = Date.now() + 20_000
    while (!(await isListening(port))) {
      if (Date.now() > until)
        throw new Error(`nginx does not listen: ${readFileSync(join(folder, "error.log"), "utf8")}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })
  afterAll(async () => {
    proxy?.kill("SIGTERM")
    await gateway.close()
    provider.server.closeAllConnections()
    provider.server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  type Reply = { readonly status: number; readonly first: Promise<string>; readonly whole: Promise<string> }

  function post(host: string, content: string): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const headers = {
      host,
      "content-type": "application/json",
      authorization: "Bearer sk-test",
      "x-holdfast-bypass": "1",
    }
    const asking = request(
      { port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", headers },
      (response) => {
        const [first, whole] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
        let text = ""
        response.on("data", (data: Buffer) => {
          text += data.toString()
          if (text.includes("first")) first.resolve(text)
        })
        response.on("end", () => whole.resolve(text))
        resolve({ status: response.statusCode ?? 0, first: first.promise, whole: whole.promise })
      },
    )
    asking.on("error", reject)
    asking.end(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content }] }))
    return promise
  }

  test("what a model says comes through while it is still speaking", async () => {
    const reply = await post(`127.0.0.1:${port}`, "Hello.")
    expect(reply.status).toBe(200)
    expect(await reply.first).not.toContain("last")
    provider.goOn()
    expect(await reply.whole).toContain("[DONE]")
  })

  test("a web page that has a name of its own for the address is refused by the gateway", async () => {
    const before = provider.sizes.length
    const reply = await post("rebound.evil.example", "Hello.")
    expect(reply.status).toBe(403)
    expect(provider.sizes.length).toBe(before)
  })

  test("a body of 20 MB arrives whole", async () => {
    const reply = await post(`localhost:${port}`, "long ".repeat(4_000_000))
    expect(reply.status).toBe(200)
    provider.goOn()
    expect(await reply.whole).toContain("[DONE]")
    expect(provider.sizes.at(-1)).toBeGreaterThan(20_000_000)
  }, 120_000)
})
