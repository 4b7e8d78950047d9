import { describe, expect, test } from "vitest"
import { sourceKind } from "./rule-source.ts"
import { toolRules } from "./tool-rules.ts"

const textsIn = (text: string, source?: string): readonly string[] =>
  toolRules(text, { part: 0 }, source).map((rule) => rule.text)

describe("what is carried on out of a tool's output", () => {
  test.each([
    [
      "a policy by its file's name",
      "read_file kb/berth-policy.md",
      "Ships wait outside.\n\nNever moor at the blue quay.",
    ],
    ["a policy by its title", "fetch page-1", "# Berth rules\n\n- Never moor at the blue quay.\n"],
    [
      "a section of rules on a page of another kind",
      "read_file notes.md",
      "# Port\n\nIt is old.\n\n## Rules\n\n- Never moor at the blue quay.\n",
    ],
    ["a field that is named so", "get_record", JSON.stringify({ policy: "Never moor at the blue quay." })],
    ["a sentence that calls itself a policy", "get_note", "Policy: Never moor at the blue quay."],
    ["a file for agents that a command showed", "bash AGENTS.md", "Never moor at the blue quay."],
    [
      "a page of a wiki that has little else in it",
      "wiki quay",
      "Never moor at the blue quay.\nDo not anchor by night.\nShips must not wait here.\n",
    ],
  ])("%s", (_why, source, text) => {
    expect(textsIn(text, source).some((rule) => rule.includes("Never moor at the blue quay."))).toBe(true)
  })

  test("a word to those who work there, by mail", () => {
    expect(textsIn("Hello all,\n\nstaff must not moor at the blue quay.\n\nMira", "read_email 7")).toHaveLength(1)
  })

  test.each([
    [
      "comments in code",
      "read_file src/quay.ts",
      "// Never moor twice.\n// Always release the rope.\n// Do not call this by night.\n",
    ],
    ["a dependency's page", "read_file node_modules/quay/README.md", "# Rules\n\nNever moor twice.\n"],
    ["a licence", "bash LICENSE", "You may not use this file. Copies must keep this notice. Never remove it.\n"],
    ["a public page", "web_fetch https://example.org/tips", "Never start late. Always send an agenda. Do not talk.\n"],
    ["what a command printed", "bash", "never closes\nmust not leak\nalways opens\n"],
    ["a customer's mail", "read_email 7", "I never got my rope. You must refund me. Do not call.\n"],
    ["a difference between files", "bash AGENTS.md", "diff --git a/AGENTS.md b/AGENTS.md\n+Never moor at night.\n"],
    ["what would allow something", "read_file policy.md", "# Policy\n\nYou may now moor at the blue quay.\n"],
  ])("and not %s", (_why, source, text) => {
    expect(textsIn(text, source)).toEqual([])
  })
})

test.each([
  [undefined, "public"],
  ["read src/a.py", "code"],
  ["read /opt/lib/x/docs/a.md", "code"],
  ["read README.md", "public"],
  ["read docs/setup.md", "public"],
  ["read_email 4", "mail"],
  ["lookup berth handbook", "own"],
] as const)("whose words %s has", (source, kind) => {
  expect(sourceKind(source)).toBe(kind)
})
