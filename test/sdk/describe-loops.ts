import { describe, expect, test } from "vitest"
import type { Exchange } from "../model-server/exchange.ts"
import { field, type Json } from "../model-server/json.ts"
import { diagonalOf, isLongRun, sampleOf } from "../support/property.ts"
import { finalText, firstReasoning, toolOutputs } from "./conversation.ts"
import type { Loop } from "./loop.ts"
import { allLoops } from "./loops/all-loops.ts"
import { runLoop, type Surroundings } from "./run-loop.ts"

/** All strings in a JSON value, at any depth. */
function stringsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value]
  if (value === null || typeof value !== "object") return []
  return Object.values(value).flatMap(stringsIn)
}

const received = (requests: readonly Exchange[]): string => requests.flatMap(({ json }) => stringsIn(json)).join("\n")

const isStreamed = ({ path, json }: Exchange): boolean => path.includes("stream") || field(json, "stream") === true

/** The marks of reasoning in an answer: thinking and thought signatures, sealed reasoning, ids of reasoning items. */
const reasoningMarks = /"(?:signature|thoughtSignature|encrypted_content)": ?"([^"]{40,})"|\b(rs_\w+)/g

function reasoningIn({ response }: Exchange): readonly string[] {
  const matches = [...new TextDecoder().decode(response.bytes).matchAll(reasoningMarks)]
  return [firstReasoning, ...matches.flatMap(([, ...marks]) => marks.filter((mark) => mark !== undefined))]
}

const resends = ({ resendsReasoning }: Loop, stream: boolean): boolean =>
  resendsReasoning === "always" || (resendsReasoning === "unless-streamed" && !stream)

async function checkLoop(loop: Loop, stream: boolean, surroundings: Surroundings): Promise<void> {
  const { text, requests, failures } = await runLoop(loop, stream, surroundings)
  expect(failures).toEqual([])
  expect(text).toBe(finalText)
  const [first, second, third, ...more] = requests.filter(({ response }) => response.status === 200)
  if (first === undefined || second === undefined || third === undefined) throw new Error("fewer than three turns")
  expect(more).toEqual([])
  expect([first, second, third].map(isStreamed)).toEqual([stream, stream, stream])
  expect(received([second])).toContain(toolOutputs.firstFile)
  expect(received([second])).toContain(toolOutputs.weather)
  expect(received([third])).toContain(toolOutputs.secondFile)
  const later = received([second, third])
  expect(reasoningIn(first).some((mark) => later.includes(mark))).toBe(resends(loop, stream))
}

/** The contract of everything that may stand between an SDK and a model: every loop ends as it does without. */
export function describeLoops(situation: string, surroundings: Surroundings = {}): void {
  const { relay, chunkBytes } = surroundings
  // In the everyday run a stream that is cut stands for the others.
  const streaming = chunkBytes !== undefined ? [true] : isLongRun || relay !== undefined ? [false, true] : [false]
  const all = allLoops.flatMap((loop) => streaming.map((stream) => ({ loop, stream, name: loop.name })))
  // The relay only counts what passes it: in the everyday run each loop goes through it once.
  // A stream that is cut, every loop that is not streamed whole.
  const some = chunkBytes === undefined ? diagonalOf(all, streaming.length) : sampleOf(all, 2)
  const cases = relay === undefined ? all : some
  describe(situation, () => {
    test.each(cases)("$name, stream $stream", ({ loop, stream }) => checkLoop(loop, stream, surroundings))
  })
}
