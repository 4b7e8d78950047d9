import { expect, test } from "vitest"
import { present } from "../../message/present.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { anchorsOf } from "./names.ts"

const anchorsIn = (part: object): readonly string[] => {
  const body = JSON.stringify({ contents: [{ role: "model", parts: [part] }] })
  return decodeRequest("gemini", body).messages.flatMap(anchorsOf)
}
const call = (thoughtSignature: string | undefined, id?: string, args: object = {}): object => ({
  functionCall: { name: "bash", args, ...present({ id }) },
  ...present({ thoughtSignature }),
})
const seal = "CiIBkezW74DzlLeQV1622".repeat(5)

test("a call without a random id is identified by the provider's signature, whatever else was rewritten", () => {
  const [anchor] = anchorsIn(call(seal))
  expect(anchor).toBeDefined()
  expect(anchorsIn(call(seal, "a1b2c3d4", { path: "x".repeat(30_000) }))).toEqual([anchor])
  expect(anchorsIn({ ...call(undefined), thought_signature: seal })).toEqual([anchor])
  expect(anchorsIn(call(`${seal}A`))).not.toEqual([anchor])
})

test("a placeholder signature identifies nothing, because many conversations share it", () => {
  expect(anchorsIn(call("skip_thought_signature_validator"))).toEqual([])
  expect(anchorsIn(call(undefined))).toEqual([])
})

test("an id built from a time is identified by the time, whatever name precedes it", () => {
  const [anchor] = anchorsIn(call(undefined, "run_shell_command_1794822400469_0"))
  expect(anchor).toBe("1794822400469_0")
  expect(anchorsIn(call(undefined, "bash__run_shell_command_1794822400469_0"))).toEqual([anchor])
  expect(anchorsIn(call(undefined, "run_shell_command_0"))).toEqual([])
})

test("a random id is enough", () => {
  expect(anchorsIn(call(seal, "call_8f3kd02mXz71"))).toEqual(["call_8f3kd02mXz71"])
})

test("an id that a client made up for a result alone identifies the conversation as well", () => {
  const id = "read_file-1794822400469-023cd70a13e62"
  const answered = JSON.stringify({
    contents: [
      { role: "model", parts: [call(undefined)] },
      { role: "user", parts: [{ functionResponse: { id, name: "bash", response: { output: "ok" } } }] },
    ],
  })
  expect(decodeRequest("gemini", answered).messages.flatMap(anchorsOf)).toEqual([id])
})
