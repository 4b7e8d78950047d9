import { expect, test } from "vitest"
import { wireText } from "../../message/message.ts"
import { argumentsOf, createAsked } from "./fit.ts"

const schema = {
  type: "object",
  properties: { orderId: { type: "string" }, reason: { type: "string", enum: ["late", "broken"] } },
}
const nested = {
  type: "object",
  properties: { items: { type: "array", items: { properties: { sku: { type: "string" } } } } },
}

const declared: readonly (readonly [format: string, tool: unknown, names: readonly string[]])[] = [
  ["Anthropic", { name: "cancel", input_schema: schema }, ["orderId", "reason"]],
  ["OpenAI Chat", { type: "function", function: { name: "cancel", parameters: schema } }, ["orderId", "reason"]],
  ["OpenAI Responses", { type: "function", name: "cancel", parameters: nested }, ["items", "sku"]],
  ["Gemini", { functionDeclarations: [{ name: "cancel", parameters: schema }] }, ["orderId", "reason"]],
]
test.each(declared)("the arguments of a tool as %s declares it", (_format, tool, names) => {
  const found = argumentsOf([{ name: "cancel", wire: wireText(JSON.stringify(tool)) }])
  expect(found.map(({ name }) => name)).toEqual(names)
})

test("an argument knows the values that it is limited to, and one that is called `properties` is one", () => {
  const wire = wireText(JSON.stringify({ input_schema: { properties: { properties: { enum: ["a", "b"] } } } }))
  expect(argumentsOf([{ name: "x", wire }])).toEqual([{ name: "properties", values: ["a", "b"] }])
})

test("a declaration that is no JSON declares nothing", () => {
  expect(argumentsOf([{ name: "x", wire: wireText("free text") }])).toEqual([])
})

const alike: readonly (readonly [label: string, name: string, asked: boolean])[] = [
  ["user ID", "user_id", true],
  ["reservations", "reservation_id", true],
  ["payment_methods", "paymentId", true],
  ["id", "id", true],
  ["order id", "user_id", false],
  ["created at", "date", false],
  ["", "date", false],
]
test.each(alike)("%s is asked for by %s: %s", (label, name, asked) => {
  expect(createAsked([name])(label)).toBe(asked)
})
