import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { gunzipSync } from "node:zlib"
import type { Format } from "../../src/message/message.ts"

/** Folder of real traces and recorded requests, if present: HOLDFAST_CORPUS, or the folder shared beside the checkout. */
export const corpus: string | undefined = [
  process.env.HOLDFAST_CORPUS,
  resolve(import.meta.dirname, "../../../shared/data"),
].find((dir) => dir !== undefined && existsSync(dir))

/** Suffix for the name of a test that needs the corpus: says why it is skipped. */
export const withoutCorpus: string = corpus === undefined ? " (skipped: no corpus; set HOLDFAST_CORPUS)" : ""

export function linesOf(folder: string): readonly { readonly file: string; readonly line: string }[] {
  if (corpus === undefined) return []
  const dir = join(corpus, folder)
  return readdirSync(dir)
    .filter((file) => file.endsWith(".jsonl.gz"))
    .sort()
    .flatMap((file) =>
      gunzipSync(readFileSync(join(dir, file)))
        .toString()
        .trim()
        .split("\n")
        .map((line) => ({ file, line })),
    )
}

export type Recorded = { readonly file: string; readonly path: string; readonly format: Format; readonly text: string }

/** Returns the recorded requests, in the order of each recording. */
export function recordedRequests(): readonly Recorded[] {
  return linesOf("requests").map(({ file, line }) => {
    const { path } = JSON.parse(line) as { readonly path: string }
    return { file, path, format: formatOf(path), text: bodyOf(line) }
  })
}

/** Returns the body byte for byte as recorded: it is the last member of the line. */
function bodyOf(line: string): string {
  const start = line.indexOf(',"body":') + ',"body":'.length
  const text = line.slice(start, line.lastIndexOf("}"))
  JSON.parse(text)
  return text
}

function formatOf(path: string): Format {
  if (path.startsWith("/v1/messages")) return "anthropic-messages"
  if (path.startsWith("/v1/chat")) return "openai-chat"
  return path.startsWith("/v1/responses") ? "openai-responses" : "gemini"
}

export type RealTrace = { readonly file: string; readonly id: string; readonly messages: readonly unknown[] }

export function realTraces(): readonly RealTrace[] {
  return linesOf("traces").map(({ file, line }) => ({
    file,
    ...(JSON.parse(line) as { id: string; messages: unknown[] }),
  }))
}
