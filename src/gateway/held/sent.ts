import type { Form } from "./form.ts"
import type { Whole } from "./whole.ts"

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
