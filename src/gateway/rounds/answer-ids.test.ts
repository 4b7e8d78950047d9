import { expect, test } from "vitest"
import { createAnswerIds } from "./answer-ids.ts"

const format = "openai-responses"

test("a request that goes on from an answer in rounds goes on from its last one", () => {
  const ids = createAnswerIds()
  ids.note("resp_1", "resp_3")
  expect(ids.resolve(format, `{ "previous_response_id" : "resp_1", "n": 1.0 }`)).toBe(
    `{ "previous_response_id" : "resp_3", "n": 1.0 }`,
  )
})

test("any other body is the very text that came", () => {
  const ids = createAnswerIds()
  ids.note("resp_1", "resp_3")
  for (const body of [
    `{"previous_response_id":"resp_2"}`,
    `{"previous_response_id":null}`,
    `{"input":"\\"previous_response_id\\" resp_1"}`,
    `"previous_response_id"`,
    `{"previous_response_id":"resp_1"`,
  ]) {
    expect(ids.resolve(format, body)).toBe(body)
  }
  expect(ids.resolve("openai-chat", `{"previous_response_id":"resp_1"}`)).toContain("resp_1")
})

test("the oldest are forgotten", () => {
  const ids = createAnswerIds()
  for (let n = 0; n <= 10_000; n++) ids.note(`resp_${n}`, `last_${n}`)
  expect(ids.resolve(format, `{"previous_response_id":"resp_0"}`)).toContain("resp_0")
  expect(ids.resolve(format, `{"previous_response_id":"resp_1"}`)).toContain("last_1")
})
