import { expect, test } from "vitest"
import { findRules } from "./find-rules.ts"

const found = (text: string): readonly string[] => findRules(text, { channel: "user" }).map((rule) => rule.text)

test.each([
  "use hemp not nylon",
  "we use hemp here, not nylon",
  "ropes live next to the anchor",
  "max 3 ropes per file",
  "ask before adding ropes",
  "after each change run the bell",
  "if ropes are wet do not tie them",
  "when in doubt ask",
  "orders above 1k go to Lena",
  "it must not depend on anything outside the port",
  "keep your answers short, i'm at sea",
  "leave the old ropes untouched",
  "must work in the rain too",
  "all rope names lowercase with dashes",
  "don't use nylon, we are trying to get rid of it",
  "pls never touch the anchor",
])("as people type them: %s", (text) => {
  expect(found(text)).toEqual([text])
})

test.each([
  ["no, i told you, never use nylon", "never use nylon"],
  ["thats wrong. ropes must be dry", "ropes must be dry"],
  ["whatever happens don't cut the rope", "don't cut the rope"],
  ["te dije que no toques el ancla", "no toques el ancla"],
])("behind a correction: %s", (text, rule) => {
  expect(found(text).join(" ")).toContain(rule)
})

test.each([
  "Unfortunately I cannot make the crossing on Monday",
  "I have always liked this port",
  "please cancel all my crossings",
  "make the flag red and always visible",
  "I heard that cheap tickets can't be changed",
  "I'm interested in moving forward with the crossing",
  "add validation: the name must not be empty",
  "write a letter saying we do not take dogs",
  "only Tom has replied",
  "remove the never-used rope",
  "don't close the hatch in this picture",
  "No word from the captain so far.",
])("work for now, or a word about the speaker: %s", (text) => {
  expect(found(text)).toEqual([])
})
