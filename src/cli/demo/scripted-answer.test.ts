import { describe, expect, test } from "vitest"
import { callIdOf, scriptedAnswer } from "./demo-model.ts"
import { batchNumber, deskTools } from "./order-desk.ts"
import { story } from "./story.ts"

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] })
const result = (step: string, text: string) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: callIdOf(step, 0), content: text }],
})
const last = story.at(-1)?.says ?? ""

describe("the step that comes next", () => {
  test("each turn of the user begins its own, whatever came before", () => {
    for (const { says, steps } of story)
      expect(scriptedAnswer({ messages: [user("something summed up"), user(says)] }).step).toBe(steps[0]?.id)
  })

  test("a result is followed by the step behind its call, though the turn's words stand before it", () => {
    const [turn] = story
    expect(scriptedAnswer({ messages: [user(turn?.says ?? ""), result("s1", "orders")] }).step).toBe("s2")
  })

  test("words of our own behind the last result do not lead it astray", () => {
    const beside = {
      role: "user",
      content: [...result("s4", "log").content, { type: "text", text: "These rules stand." }],
    }
    expect(scriptedAnswer({ messages: [user("?"), beside] }).step).toBe("s5")
  })

  test("what the story does not know is said to be so", () => {
    for (const messages of [undefined, [], [user("hello")], [result("s99", "")], [{ role: "user", content: 7 }]])
      expect(scriptedAnswer({ messages }).step).toBe("off")
  })

  test("no two steps go by one name", () => {
    const ids = story.flatMap(({ steps }) => steps.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe("the script knows what the request shows, and nothing else", () => {
  test("a batch number that stands in it is sent as it stands there", () => {
    for (const value of [batchNumber, "LOT-ZZ9-0001-AA"]) {
      const { calls } = scriptedAnswer({ messages: [user(`batch: ${value}`), user(last)] })
      expect(calls.map(({ tool, input }) => [tool, String(input.body).includes(value)])).toEqual([
        [deskTools.sendEmail, true],
      ])
    }
  })

  test("one that does not is not made up", () => {
    const { calls, text } = scriptedAnswer({ messages: [user("batch: somewhere"), user(last)] })
    expect(calls).toEqual([])
    expect(text).toMatch(/nowhere in what I can see/)
    expect(JSON.stringify(story.map(({ says }) => says))).not.toContain(batchNumber)
  })
})
