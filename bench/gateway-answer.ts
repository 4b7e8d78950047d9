/** The upstream's answer to every request of the gateway bench: about 1 kB, whole, in twenty events, or as a tool call. */

const words =
  "The job reads its settings once and keeps them, so a change on disk is seen only after a restart. I would watch the file and " +
  "swap the settings as a whole, with a check before the swap: a half-written file must not take effect. Two tests cover it: one " +
  "writes a good file and waits for the new value, the other writes a broken one and sees that the old value still stands. The " +
  "watcher has to be closed with the job, otherwise the process does not end. Nothing else refers to the old function, so it can go. " +
  "Shall I also move the default values out of the reader? They are read in two places by now, and one of them is out of date."

/** The text of the answer, as a client sends it back in its next request. */
export const answerText: string = words

const frame = { id: "chatcmpl-fixed", created: 1_760_000_000, model: "gpt-5.4" }
/** Tokens per byte of the generated conversations: the gateway would believe a model that reports another size. */
const tokensPerByte = 0.345

const wholeHead = JSON.stringify({
  ...frame,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: words }, finish_reason: "stop" }],
}).slice(0, -1)

/** Returns the whole answer to a request body of `bytes` bytes. */
export function wholeAnswer(bytes: number): Buffer {
  const usage = { prompt_tokens: Math.ceil(bytes * tokensPerByte), completion_tokens: 150 }
  return Buffer.from(`${wholeHead},"usage":${JSON.stringify(usage)}}`)
}

const eventCount = 20

const eventOf = (delta: object, finish: string | null = null): Buffer =>
  Buffer.from(
    `data: ${JSON.stringify({
      ...frame,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`,
  )

const piecesOf = (text: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) =>
    text.slice(Math.floor((n * text.length) / count), Math.floor(((n + 1) * text.length) / count)),
  )

const done = Buffer.from("data: [DONE]\n\n")

export const streamedAnswer: readonly Buffer[] = [
  eventOf({ role: "assistant", content: "" }),
  ...piecesOf(words, eventCount - 2).map((content) => eventOf({ content })),
  Buffer.concat([eventOf({}, "stop"), done]),
]

const called = JSON.stringify({ path: "src/settings.ts", content: words })
const callOf = (fields: object): object => ({ tool_calls: [{ index: 0, ...fields }] })

export const streamedCall: readonly Buffer[] = [
  eventOf({ role: "assistant", content: "I write it." }),
  eventOf(callOf({ id: "call_fixed8Xk2", type: "function", function: { name: "write_file", arguments: "" } })),
  ...piecesOf(called, eventCount - 3).map((piece) => eventOf(callOf({ function: { arguments: piece } }))),
  Buffer.concat([eventOf({}, "tool_calls"), done]),
]
