import { join } from "node:path"
import type { Call, Script } from "../model-server/script.ts"
import type { Client } from "./client.ts"
import { finalText } from "./task.ts"
import { stepFile, stepText } from "./workplace.ts"

/** How often the model asked for a file, and whether it ever saw the line in its middle. */
export type Reading = {
  readonly file: string
  readonly line: string
  readonly tries: number
  readonly seen: boolean
}

export type ReadingTask = {
  readonly files: number
  readonly fileBytes: number
  /** Number of tries after which it goes on to the next file, as an agent gives up. */
  readonly maxTries: number
  /** Returns the call that reads a file. */
  readonly call: (path: string) => Call
}

/** Returns the line in the middle of a file, which occurs nowhere else: cutting a file to its head and tail loses it. */
export function middleLine(text: string): string {
  const lines = text.trimEnd().split("\n")
  return lines[Math.floor(lines.length / 2)] ?? ""
}

/**
 * A model that has the client read one file after another. It asks for the same file again until a request contains the line in the file's
 * middle, as an agent does that needs the content.
 */
export function createAskingAgain(
  client: Client,
  { files, fileBytes, maxTries, call }: ReadingTask,
): { readonly scriptIn: (folder: string) => Script; readonly readings: () => readonly Reading[] } {
  const readings: Reading[] = Array.from({ length: files }, (_, n) => ({
    file: stepFile(n + 1),
    line: middleLine(stepText(n + 1, fileBytes)),
    tries: 0,
    seen: false,
  }))
  let current = 0
  const scriptIn =
    (folder: string): Script =>
    ({ body }) => {
      if (!client.isMain(body)) return client.aside?.("Files are being read.") ?? { text: "Files are being read." }
      const asked = readings[current]
      if (asked !== undefined && asked.tries > 0) {
        const seen = JSON.stringify(body).includes(asked.line)
        readings[current] = { ...asked, seen }
        if (seen || asked.tries >= maxTries) current += 1
      }
      const next = readings[current]
      if (next === undefined) return { text: finalText }
      const tries = next.tries + 1
      readings[current] = { ...next, tries }
      return {
        reasoning: `I need what ${next.file} says.`,
        text: tries === 1 ? `Next is ${next.file}.` : `I have not seen all of ${next.file}: once more.`,
        calls: [call(join(folder, next.file))],
      }
    }
  return { scriptIn, readings: () => readings }
}
