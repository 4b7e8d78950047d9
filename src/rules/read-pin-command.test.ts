import { describe, expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { readPinCommand } from "./read-withdrawals.ts"

describe("a message that begins with /pin", () => {
  test.each([
    ["one line", "/pin Never push to main.", "Never push to main.", ""],
    ["blanks before and around", "  \n\t/pin   Never push.  ", "Never push.", ""],
    ["a request on the next line", "/pin Never push.\nNow fix the build.", "Never push.", "Now fix the build."],
    ["line ends of another system", "/pin Never push.\r\nFix it.", "Never push.", "Fix it."],
    [
      "a rule of several lines",
      "/pin\nNever push:\n- to main\n- to prod\n\nFix it.",
      "Never push:\n- to main\n- to prod",
      "Fix it.",
    ],
    ["a capital letter", "/Pin 不要推送。", "不要推送。", ""],
    ["a second command behind it", "/pin Use tabs.\n/pin Be kind.", "Use tabs.", "/pin Be kind."],
    ["a rule in quotation marks", '/pin "Never push."', '"Never push."', ""],
    ["a lone surrogate", "/pin Never \ud800 push.", "Never \ud800 push.", ""],
  ])("%s", (_how, message, text, rest) => {
    expect(readPinCommand(message)).toEqual({ type: "pin", text, rest })
  })

  test("and one that begins with /unpin names a pin", () => {
    expect(readPinCommand(" /unpin pin-3f2a:1 \nGo on.")).toEqual({ type: "unpin", id: "pin-3f2a:1", rest: "Go on." })
  })
})

test.each([
  ["later in a line", "Please /pin this."],
  ["on a later line", "Hello.\n/pin Never push."],
  ["in a quotation", "> /pin Never push."],
  ["in quotation marks", '"/pin Never push."'],
  ["in code", "`/pin Never push.`"],
  ["in a block of code", "```\n/pin Never push.\n```"],
  ["in a list", "- /pin Never push."],
  ["another command", "/pinned Never push."],
  ["a path", "/pin/board.md is missing"],
  ["with nothing behind it", "/pin"],
  ["with blanks behind it", "/pin   \n\n"],
  ["with a blank line before the rule", "/pin\n\nNever push."],
  ["with marks only", "/pin ---"],
  ["with a page behind it", `/pin ${"word ".repeat(2000)}`],
  ["unpin with nothing", "/unpin "],
  ["nothing", ""],
])("%s it is text like any other", (_how, message) => {
  expect(readPinCommand(message)).toBeUndefined()
})

test("whatever the message, what is pinned and what is left over stand in it, one behind the other", () => {
  const piece = fc.constantFrom(
    "/pin",
    "/unpin",
    " ",
    "\n",
    "\r\n",
    "\n\n",
    "rule",
    "`",
    ">",
    "id-1",
    "\ud800",
    "/pin x",
  )
  const message = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((parts) => parts.join("")),
    fc.string({ unit: codePoints, maxLength: 60 }).map((text) => `/pin ${text}`),
  )
  fc.assert(
    fc.property(message, (text) => {
      const found = readPinCommand(text)
      if (found === undefined) return
      const said = found.type === "pin" ? found.text : found.id
      expect(text.endsWith(found.rest)).toBe(true)
      expect(text.slice(0, text.length - found.rest.length)).toContain(said)
      expect(said.trim()).toBe(said)
    }),
  )
})

test.each([
  ["blanks", `${" ".repeat(5_000_000)}x`],
  ["a command and lines without end", `/pin\n${"a\n".repeat(2_500_000)}`],
  ["a command and one long line", `/pin ${"a".repeat(5_000_000)}`],
])("%s in number are read through once", (_what, message) => {
  expect(readPinCommand(message)).toBeUndefined()
})

test("unpin with words of a rule is a command as well", () => {
  expect(readPinCommand("/unpin the metric rule\nGo on.")).toEqual({
    type: "unpin",
    id: "the metric rule",
    rest: "Go on.",
  })
})
