import { present } from "../../message/present.ts"
import type { Receipt } from "../../session/prepared.ts"
import { endToEnd, type HeaderLine, linesOf } from "./request-headers-lines.ts"

/** The upstream's word on where else it can be reached would be taken for the gateway's own. */
const notRelayed: ReadonlySet<string> = new Set(["alt-svc"])

/** An upstream's response headers for the client, as a flat list. The length is kept only where the body goes on as it came. */
export function relayedHeaders(
  raw: readonly (string | Buffer)[],
  { keepLength }: { readonly keepLength: boolean },
): string[] {
  return endToEnd(linesOf(raw))
    .filter(([name]) => {
      const lower = name.toLowerCase()
      return !notRelayed.has(lower) && (keepLength || lower !== "content-length")
    })
    .flat()
}

export type OwnHeaders = {
  readonly session?: string | undefined
  readonly trace?: string | undefined
  readonly receipt?: Partial<Receipt> | undefined
  /** Over what the receipt says. */
  readonly changed?: boolean | undefined
}

/** What the gateway tells the client beside the upstream's headers, as a flat list; what is not known is left out. */
export function ownHeaders({ session, trace, receipt, changed }: OwnHeaders): string[] {
  const lines: (HeaderLine | undefined)[] = [
    session === undefined ? undefined : ["x-holdfast-session", safe(session, /[^\x20-\x7e]/u)],
    trace === undefined ? undefined : ["x-holdfast-trace", safe(trace, /[^\x20-\x7e]/u)],
    ["x-holdfast-receipt", receiptLine({ ...receipt, ...present({ changed }) })],
  ]
  return lines.filter((line) => line !== undefined && line[1] !== "").flatMap((line) => line ?? [])
}

/** A receipt in one line, such as `changed=0; context=12345; window=200000; durable=1`. */
function receiptLine(receipt: Partial<Receipt>): string {
  const fields: Readonly<Record<string, string | number | boolean | undefined>> = {
    changed: receipt.changed,
    context: receipt.contextTokens,
    window: receipt.windowTokens,
    stable: receipt.stableTokens,
    checkpoint: receipt.checkpoint,
    durable: receipt.durable,
  }
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === "boolean" ? Number(value) : safe(String(value), /[^\w.:-]/u)}`)
    .join("; ")
}

/** The text with every character that does not belong percent-encoded. */
const safe = (text: string, foreign: RegExp): string =>
  foreign.test(text) || !text.isWellFormed()
    ? text
        .toWellFormed()
        .replace(new RegExp(foreign, "gu"), (character) =>
          [...Buffer.from(character, "utf8")]
            .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
            .join(""),
        )
    : text
