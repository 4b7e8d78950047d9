import type { CallId, MessageId } from "./ids.ts"

/** One mend, with all that it takes to do it again. `message` and `part` are positions at the time of the mend. */
export type Mend = { readonly message: number } & (
  | { readonly type: "message-renamed"; readonly to: MessageId; readonly reason: "message-id-repeated" }
  | { readonly type: "call-renamed"; readonly part: number; readonly to: CallId; readonly reason: "call-id-repeated" }
  | { readonly type: "call-quoted"; readonly part: number; readonly reason: "call-misplaced" | "call-without-result" }
  | {
      readonly type: "result-moved"
      readonly part: number
      readonly after: number
      readonly reason: "result-before-call" | "result-misplaced" | "result-not-adjacent"
    }
  | {
      readonly type: "result-quoted"
      readonly part: number
      readonly reason: "result-without-call" | "result-repeated"
    }
  | { readonly type: "result-added"; readonly part: number; readonly reason: "call-without-result" }
  | { readonly type: "message-removed"; readonly reason: "message-empty" }
  /** Words of the model or the system go before the message whose calls they stood behind. */
  | { readonly type: "message-moved"; readonly before: number; readonly reason: "result-not-adjacent" }
)
