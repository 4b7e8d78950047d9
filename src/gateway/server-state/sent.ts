import type { ModelRequest } from "../../message/request.ts"
import type { SessionGuarding } from "../../session/judge.ts"
import type { Form } from "./form.ts"
import type { Minded } from "./held.ts"
import type { Whole } from "./whole.ts"
import { withoutReasoning } from "./without-reasoning.ts"

/** What goes upstream for a request, as it stands now: it may have to be said in another way. */
export type Sent = {
  readonly whole?: Whole
  /** What the session made of the whole. */
  wire: string
  form: Form
  /** The provider will not have under the answer's id what the client has. */
  isOther: boolean
  /** What was tried already because the upstream refused. */
  readonly tried: Set<"inline" | "without-old-reasoning" | "without-reasoning">
}

/** Leave out at once, where something was changed, the reasoning that the upstream did not take in this session before. */
export function spare(sent: Sent, { format, wire }: ModelRequest, minded: Minded | undefined): void {
  const { form, tried } = sent
  if (minded === undefined || form.type !== "send" || form.body === wire) return
  tried.add("without-old-reasoning")
  if (minded === "all") tried.add("without-reasoning")
  const body = withoutReasoning(format, form.body, minded === "old")
  if (body === form.body) return
  sent.form = { ...form, body }
  sent.isOther = true
}

/** A call that is withheld stands in what the provider keeps of the answer, and not in what the client has of it. */
export function noting(
  guarding: SessionGuarding | undefined,
  sent: Pick<Sent, "isOther">,
): SessionGuarding | undefined {
  if (guarding === undefined) return undefined
  const onJudged: SessionGuarding["onJudged"] = async (judged) => {
    if (judged.result !== undefined) sent.isOther = true
    await guarding.onJudged(judged)
  }
  return { ...guarding, onJudged }
}
