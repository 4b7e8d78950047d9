import type { Live } from "./live.ts"

/** What the session's handles are made with: written down when it was opened, and never shown. */
export async function readSecret({ journal }: Live): Promise<string | undefined> {
  const [first] = journal.outline().ofType("session-opened")
  const body = first === undefined ? undefined : (await journal.entries([first])).get(first)?.body
  return body?.type === "session-opened" ? body.secret : undefined
}
