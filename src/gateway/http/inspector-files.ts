import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http"
import { extname, join } from "node:path"
import { gzipSync } from "node:zlib"
import tables from "./inspector-headers.json" with { type: "json" }

/** Serves the files of the inspector. They are the same for everyone and have no session data: the pages fetch that from the admin API. */
type InspectorFiles = (incoming: IncomingMessage, response: ServerResponse, path: string) => void

type ServedFile = {
  readonly bytes: Buffer
  readonly packed: Buffer
  readonly type: string
  readonly etag: string
  /** Its name contains a hash of its content, so browsers may cache it forever. */
  readonly lasts: boolean
}

const types: Readonly<Record<string, string>> = tables.types

/** Security headers: only files of this origin, no markup made from text: unescaped session text can neither run nor fetch anything. */
const security = { ...tables.security, "content-security-policy": tables.contentSecurityPolicy.join("; ") }

const missing = `<!doctype html><html lang="en"><title>Holdfast</title><p>The inspector is not in this build. Run npm run build, and start the gateway again.</p>
`

/** Reads the files once, at the first request. If the folder is missing, a single page says so. */
export function createInspectorFiles(folder: string | undefined): InspectorFiles {
  let files: ReadonlyMap<string, ServedFile> | undefined
  return ({ method, headers }, response, path) => {
    files ??= readFiles(folder)
    const asked = path.replace(/\?.*$/s, "").replace(/^\/(?:inspector\/?)?/, "")
    const name = asked === "" || asked.endsWith("/") ? `${asked}index.html` : asked
    const send = (status: number, fields: OutgoingHttpHeaders, body: Buffer | string = ""): void =>
      void response.writeHead(status, { ...security, ...fields }).end(method === "HEAD" ? "" : body)
    const found = files.get(name)
    if (found === undefined) {
      const isPage = name === "index.html"
      const fields = { "content-type": types[".html"], "cache-control": "no-store" }
      return send(isPage ? 503 : 404, fields, isPage ? missing : "")
    }
    const { bytes, packed, type, etag, lasts } = found
    const cacheControl = lasts ? "public, max-age=31536000, immutable" : "no-cache"
    const common = { etag, vary: "Accept-Encoding", "cache-control": cacheControl }
    if (headers["if-none-match"] === etag) return send(304, common)
    const takesPacked = /\bgzip\b/.test(String(headers["accept-encoding"] ?? ""))
    const body = takesPacked ? packed : bytes
    const encoding = takesPacked ? { "content-encoding": "gzip" } : {}
    send(200, { ...common, "content-type": type, "content-length": body.length, ...encoding }, body)
  }
}

function readFiles(folder: string | undefined): ReadonlyMap<string, ServedFile> {
  const files = new Map<string, ServedFile>()
  if (folder === undefined) return files
  for (const name of filesIn(folder)) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const bytes = readFileSync(join(folder, name))
    const etag = `"${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}"`
    const lasts = name.startsWith("assets/")
    files.set(name.replaceAll("\\", "/"), { bytes, packed: gzipSync(bytes, { level: 9 }), type, etag, lasts })
  }
  return files
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
  } catch {
    return []
  }
}
