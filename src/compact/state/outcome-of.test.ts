import { expect, test } from "vitest"
import { outcomeOf, textEnds } from "./outcome-of.ts"

test.each([
  ["Error: port 8080 is taken", "Error: port 8080 is taken"],
  ["ERROR:\nno such table: crates", "ERROR: no such table: crates"],
  [
    "Write boundary of this phase:\n\nonly files below plan/ may change.",
    "Write boundary of this phase: only files below plan/ may change.",
  ],
  ["Tool call denied:", "Tool call denied:"],
  ['{"error": {"message": "The card was declined."}}', "The card was declined."],
  ["Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'seat'", "KeyError: 'seat'"],
])("the reason of a failure is one line that says it: %j", (output, line) => {
  expect(outcomeOf(textEnds(output), true, true)).toEqual({ failed: true, line })
})
