import { expect, test } from "vitest"
import { isRandomId } from "./names.ts"

test.each([
  "toolu_01A09q90qw90lq917835lq9",
  "call_8f3kd02mXz71",
  "chatcmpl-tool-0b5e7f2a111142228333444455556666",
  "0b5e7f2a-1111-4222-8333-444455556666",
  "D681PevKs",
  "fc_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b",
])("%s identifies one conversation", (id) => expect(isRandomId(id)).toBe(true))

test.each([
  "",
  "1",
  "call_0",
  "call_12",
  "call-1-2",
  "tool_call_3",
  "functions.read_file:0",
  "read_file_17",
  "m3.0",
  "toolcall12",
  "run_shell_command-0",
  "00000000000000",
  "aaaaaaaaaaaaaaaa",
  "12345678901234",
  "call_1234567890123",
])("%j may occur in any conversation", (id) => expect(isRandomId(id)).toBe(false))

test("a long id is checked quickly", () => {
  expect(isRandomId("1".repeat(5_000_000))).toBe(false)
})
