import { fileText, ordersText, stockText } from "./desk-files.ts"
import { deskTools } from "./desk-tools.ts"
import type { ModelCall } from "./model-wire.ts"

/** An e-mail that the desk was made to send. It goes nowhere: the demo only keeps it. */
export type SentMail = { readonly to: string; readonly body: string }

export type OrderDesk = {
  /** Do what a call says; the answer is the result's text. */
  readonly run: (call: ModelCall) => string
  readonly mails: () => readonly SentMail[]
}

/** The made-up order desk that the demo's tools work on: all in memory, and nothing leaves it. */
export function createOrderDesk(): OrderDesk {
  const mails: SentMail[] = []
  const argument = ({ input }: ModelCall, name: string): string => {
    const value = input[name]
    return typeof value === "string" ? value : ""
  }
  const run = (call: ModelCall): string => {
    switch (call.tool) {
      case deskTools.listOrders:
        return ordersText(argument(call, "day"))
      case deskTools.readFile:
        return fileText(argument(call, "path")) ?? `There is no file ${argument(call, "path")}.`
      case deskTools.checkStock:
        return stockText(argument(call, "warehouse"))
      case deskTools.addNote:
        return `Noted on ${argument(call, "about")}.`
      case deskTools.sendEmail:
        mails.push({ to: argument(call, "to"), body: argument(call, "body") })
        return `Sent to ${argument(call, "to")}.`
      default:
        return `There is no tool ${call.tool}.`
    }
  }
  return { run, mails: () => [...mails] }
}

/** The batch number in the text of an e-mail. */
export const batchIn = (text: unknown): string | undefined =>
  typeof text === "string" ? /\bLOT-[A-Z0-9-]{4,40}/.exec(text)?.[0] : undefined
