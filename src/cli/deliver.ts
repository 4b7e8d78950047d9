import { writeFile } from "node:fs/promises"
import { type Accounted, accountOf } from "./account.ts"
import type { CompactChoices } from "./compact-choices.ts"
import { type Failure, unusable } from "./failure.ts"
import { createPaper } from "./paper.ts"
import type { Sink, World } from "./world.ts"

/** Put the body, the trace and the account where they were asked for: programs get the body, people the account. */
export async function deliver(done: Accounted, choices: CompactChoices, world: World): Promise<0 | Failure> {
  const { body, trace, report } = done.result
  const lines = trace.map((event) => `${JSON.stringify(event)}\n`).join("")
  const failure = (await save(choices.out, body)) ?? (await save(choices.trace, lines))
  if (failure !== undefined) return failure
  if (choices.output === "json") {
    // The body as the text that it is: parsing it would round its large numbers.
    await world.stdout.write(
      `{"body":${body.trim()},"report":${JSON.stringify(report)},"trace":${JSON.stringify(trace)}}\n`,
    )
    return 0
  }
  const shown = choices.output === "show" || (choices.output === "auto" && world.stdout.isTerminal)
  if (!shown && choices.out === undefined) await world.stdout.write(body)
  if (choices.output !== "quiet") await tell(done, choices, shown ? world.stdout : world.stderr)
  return 0
}

async function tell(done: Accounted, { out, trace }: CompactChoices, sink: Sink): Promise<void> {
  const saved = [
    ...(out === undefined ? [] : [`The body is in ${out}.\n`]),
    ...(trace === undefined ? [] : [`The trace is in ${trace}.\n`]),
  ]
  await sink.write(`${accountOf(done, createPaper(sink))}${saved.join("")}`)
}

async function save(path: string | undefined, text: string): Promise<Failure | undefined> {
  if (path === undefined) return undefined
  try {
    await writeFile(path, text)
    return undefined
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error
    return unwritable(path, String(error.code))
  }
}

/** Why a file could not be written, by the code of the system's error. */
export function unwritable(path: string, code: string): Failure {
  const why = reasons[code] ?? `it could not be written (${code})`
  return unusable("output-unwritable", `Nothing was written to ${path}: ${why}.`, "Name another file.")
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  EEXIST: "it is there already",
  EISDIR: "it is a folder",
  EACCES: "it may not be written",
  EPERM: "it may not be written",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
}
