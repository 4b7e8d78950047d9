import { createServer } from "node:http"
import { Pool } from "undici"
import { tellUrl } from "./gateway-child.ts"

/** The minimal gateway on this runtime: reads a request, forwards it, and relays the answer as it arrives. */
const [upstream = ""] = process.argv.slice(2)
const pool = new Pool(upstream, { pipelining: 1 })
const dropped: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
])

function kept(raw: readonly (string | Buffer)[]): string[] {
  const list: string[] = []
  for (let n = 0; n + 1 < raw.length; n += 2) {
    const name = String(raw[n])
    if (!dropped.has(name.toLowerCase())) list.push(name, String(raw[n + 1]))
  }
  return list
}

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = []
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
  incoming.on("end", () => {
    const body = Buffer.concat(chunks)
    const { url: path = "/" } = incoming
    pool.dispatch(
      { path, method: "POST", headers: kept(incoming.rawHeaders), body },
      {
        onRequestStart: () => {},
        onResponseStart: ({ rawHeaders }, status) => {
          response.writeHead(status, kept(Array.isArray(rawHeaders) ? rawHeaders : []))
        },
        onResponseData: (_controller, chunk) => {
          response.write(chunk)
        },
        onResponseEnd: () => {
          response.end()
        },
        onResponseError: () => {
          response.destroy()
        },
      },
    )
  })
})
tellUrl(server)
