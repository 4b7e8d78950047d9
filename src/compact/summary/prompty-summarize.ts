import { present } from "../../message/present.ts"
import type { Summarize } from "./custom.ts"
import type { Prompty } from "./prompty.ts"
import type { Node, Reference } from "./prompty-template.ts"

/** Asks a model one question, until the signal says stop. */
type AskUntil = (question: {
  readonly system: string
  readonly user: string
  readonly signal: AbortSignal
}) => Promise<{ readonly text: string }>

/** A .prompty file and a model as a summarizer of the user's own. */
export function summarizeWithPrompty(prompty: Prompty, ask: AskUntil): Summarize {
  return async ({ text, pieces, focus, language, budgetTokens, signal }) => {
    const messages = pieces.map(({ id, from, text: piece }) => ({ id, role: from, text: piece }))
    const question = renderPrompty(prompty, {
      messages,
      transcript: text,
      budgetTokens,
      ...present({ focus, language }),
    })
    return (await ask({ ...question, signal })).text
  }
}

/** What a template is filled with. */
export type PromptyValues = {
  readonly messages: readonly { readonly id: string; readonly role: string; readonly text: string }[]
  /** The same as one text: what `{{messages}}` and `{{transcript}}` print. */
  readonly transcript: string
  readonly focus?: string
  readonly language?: string
  readonly budgetTokens: number
}

type Item = PromptyValues["messages"][number]

/** What is asked of a model when a file only says what its role is. */
const bareRequest = "Write the summary now."

/** Fill a template. Values are put in as they are: nothing in them is read as a role or a tag. */
export function renderPrompty(
  prompty: Prompty,
  values: PromptyValues,
): { readonly system: string; readonly user: string } {
  const said = (role: "system" | "user"): string =>
    prompty.messages
      .filter((message) => message.role === role)
      .map(({ nodes }) => render(nodes, values, undefined).trim())
      .filter((text) => text !== "")
      .join("\n\n")
  return { system: said("system"), user: said("user") || bareRequest }
}

const render = (nodes: readonly Node[], values: PromptyValues, item: Item | undefined): string =>
  nodes.map((node) => renderNode(node, values, item)).join("")

function renderNode(node: Node, values: PromptyValues, item: Item | undefined): string {
  switch (node.type) {
    case "text":
      return node.text
    case "value":
      return textFor(node.of, values, item)
    case "each":
      return values.messages.map((message) => render(node.body, values, message)).join("")
    case "when": {
      const holds = textFor(node.of, values, item) !== ""
      return render(holds === node.negated ? node.otherwise : node.then, values, item)
    }
  }
}

function textFor(of: Reference, values: PromptyValues, item: Item | undefined): string {
  if (of.type === "fixed") return of.text
  if (of.type === "field") return item?.[of.field] ?? ""
  switch (of.name) {
    case "messages":
    case "transcript":
      return values.transcript
    case "focus":
      return values.focus ?? ""
    case "language":
      return values.language ?? ""
    case "budget":
      return String(values.budgetTokens)
  }
}
