import { expect, test } from "vitest"
import {
  fill,
  harmlessCalls,
  harmlessCommands,
  hostileCalls,
  hostileCommands,
  type Setting,
} from "../../../test/fixtures/guard/calls.ts"
import { fc, runs } from "../../../test/support/property.ts"
import type { OwnProcess } from "./own-process.ts"
import { createSelfProtection, selfProtectionId } from "./self-protection.ts"

const own: OwnProcess = {
  folder: "/home/jane/shop",
  home: "/home/jane",
  pid: 48213,
  commandLine: "node /usr/lib/node_modules/holdfast/dist/cli/main.js serve --port 4141",
  names: ["node", "holdfast"],
  port: () => 4141,
  hosts: ["127.0.0.1"],
  files: [
    { path: "/home/jane/shop/.holdfast", what: "its folder", isFolder: true },
    { path: "/home/jane/shop/.holdfast/holdfast.db", what: "its data" },
    { path: "/home/jane/shop/.holdfast/admin-token", what: "its admin token" },
    { path: "/home/jane/shop/.holdfast/policy", what: "its policy folder", isFolder: true },
    { path: "/srv/rules", what: "its rules", isFolder: true },
    { path: "/home/jane/shop/holdfast.config.yaml", what: "its configuration" },
    { path: "/home/jane/shop/operator.key", what: "the operator's private key" },
    { path: "/usr/lib/node_modules/holdfast", what: "its own program", isFolder: true, isReadable: true },
  ],
  namesBelow: ({ path }) => (path === "/srv/rules" ? ["rules.md", "operator.pub"] : ["admin-token", "rules.md"]),
  secrets: ["s3cr3t-admin-token-0123456789"],
  secretNames: ["HOLDFAST_ADMIN_TOKEN"],
  isSecretSet: true,
}
const ownWithKeys: OwnProcess = {
  ...own,
  files: [...own.files, { path: "/home/jane/.config/holdfast", what: "the operator's keys", isFolder: true }],
}
const guard = createSelfProtection(own)
const decide = (tool: string, input: unknown): string => guard.judge({ tool, input }).decision

const setting: Setting = {
  folder: own.folder,
  home: own.home,
  name: "shop",
  rules: "/srv/rules",
  pid: own.pid,
  port: 4141,
  token: "s3cr3t-admin-token-0123456789",
  script: "/usr/lib/node_modules/holdfast/dist/cli/main.js",
  started: "serve --port",
  program: "/usr/lib/node_modules/holdfast",
}
const filled = (input: unknown): unknown => JSON.parse(fill(JSON.stringify(input), setting))

test.each(hostileCommands)("denied: %s", (command) => {
  expect(decide("bash", filled({ command }))).toBe("deny")
})

test.each(hostileCalls)("denied: %s %j", (tool, input) => {
  expect(decide(tool, filled(input))).toBe("deny")
})

test.each(harmlessCommands)("allowed: %s", (command) => {
  expect(guard.judge({ tool: "bash", input: filled({ command }) }).reasons).toEqual([])
})

test.each(harmlessCalls)("allowed: %s %j", (tool, input) => {
  expect(guard.judge({ tool, input: filled(input) }).reasons).toEqual([])
})

test("a call that is too long to be read in full is denied where it names something of the gateway's, and only there", () => {
  const padding = "x".repeat(600_000)
  expect(decide("bash", { command: `# ${padding}\nrm -rf .holdfast` })).toBe("deny")
  expect(decide("write_file", { content: padding, path: ".holdfast/policy/rules.md" })).toBe("deny")
  expect(decide("write_file", { content: padding, path: "big.txt" })).toBe("allow")
})

test("the reason says what was denied, why, and what to do", () => {
  const { reasons } = guard.judge({ tool: "bash", input: { command: "kill 48213" } })
  expect(reasons).toEqual([
    {
      policy: selfProtectionId,
      rule: "This call would end or signal its process. An agent may not touch the Holdfast gateway that guards it.",
      decision: "deny",
      instead: "Leave it as it is, or ask the person who runs Holdfast to do it outside of the agent.",
      facts: {},
    },
  ])
})

test("a verdict is the same whatever was judged before it", () => {
  const cases = [...hostileCommands, ...harmlessCommands].map((command) => filled({ command }))
  const fresh = cases.map((input) => decide("bash", input))
  const property = fc.property(fc.shuffledSubarray([...cases.keys()], { minLength: cases.length }), (order) => {
    for (const at of order) expect([cases[at], decide("bash", cases[at])]).toEqual([cases[at], fresh[at]])
  })
  fc.assert(property, { numRuns: 10 })
})

test("a call that cannot be read in full is not denied for the word holdfast alone", () => {
  const long = `# ${"x".repeat(600_000)}`
  const judge = (command: string): string =>
    createSelfProtection(ownWithKeys).judge({ tool: "bash", input: { command } }).decision
  expect(judge(`${long}\ngrep -r holdfast docs/`)).toBe("allow")
  expect(judge(`${long}\ncat ~/.config/holdfast/operator.key`)).toBe("deny")
})

/** Ways to run a command from within another. */
const wraps: readonly ((command: string) => string)[] = [
  (command) => `bash -c '${command.replaceAll("'", "'\\''")}'`,
  (command) => `sh -lc "${command.replace(/(["\\$`])/g, "\\$1")}"`,
  (command) => `true && ${command}`,
  (command) => `(${command})`,
  (command) => `if true; then ${command}; fi`,
  (command) => `sudo ${command}`,
  (command) => `nohup ${command} &`,
  (command) => `echo ${Buffer.from(command).toString("base64")} | base64 -d | bash`,
]
const plainHostile = [
  "rm -rf .holdfast",
  "cat .holdfast/admin-token",
  "kill -9 48213",
  "pkill -f holdfast",
  "git clean -fdx",
]

test("no wrapping of a hostile command gets it through", () => {
  const property = fc.property(
    fc.constantFrom(...plainHostile),
    fc.array(fc.constantFrom(...wraps), { maxLength: 2 }),
    fc.constantFrom("bash", "shell", "run_terminal_cmd", "execute_command"),
    (command, around, tool) => {
      const written = around.reduce((inner, wrap) => wrap(inner), command)
      expect([decide(tool, { command: written }), written]).toEqual(["deny", written])
    },
  )
  fc.assert(property, { numRuns: 3 * runs })
})

test("nothing that a call may be makes it throw", () => {
  fc.assert(
    fc.property(fc.string(), fc.anything(), (tool, input) => {
      expect(["allow", "deny"]).toContain(decide(tool, input))
    }),
    { numRuns: 3 * runs },
  )
})

/** A gateway whose data is in the folder `holdfast` of the working folder, and its policies elsewhere. */
const withDataHere: OwnProcess = {
  ...own,
  files: [
    { path: "/home/jane/shop/holdfast/holdfast.db", what: "its data" },
    { path: "/home/jane/shop/holdfast/admin-token", what: "its admin token" },
    { path: "/srv/rules", what: "its rules", isFolder: true },
    { path: "/home/jane/shop/holdfast.config.json", what: "its configuration", isAbsent: true },
  ],
  namesBelow: () => ["rules.md", "operator.pub"],
}

test("who looks for the word holdfast in other folders is let alone, with whatever options", () => {
  const guard = createSelfProtection(withDataHere)
  const option = fc.constantFrom(
    ["-n"],
    ["-i"],
    ["-A", "3"],
    ["-C2"],
    ["-m", "5"],
    ["-nA", "2"],
    ["--include", "'*.md'"],
    ["--include=*.md"],
    ["--color", "never"],
    ["--exclude-dir", "node_modules"],
  )
  const searcher = fc.constantFrom("grep -r", "grep -rn", "rg", "rg -g '*.md'", "rg -t ts", "git grep", "egrep -R")
  const folder = fc.constantFrom(
    "docs/",
    "docs",
    "./docs",
    "src docs",
    "/home/jane/shop/docs",
    "docs/*.md",
    "README.md",
  )
  fc.assert(
    fc.property(searcher, fc.array(option, { maxLength: 3 }), folder, (program, options, place) => {
      const command = `${program} ${options.flat().join(" ")} holdfast ${place}`
      expect({ command, decision: guard.judge({ tool: "bash", input: { command } }).decision }).toEqual({
        command,
        decision: "allow",
      })
    }),
    { numRuns: runs * 4 },
  )
})

test.each([
  ["grep -rA 3 token holdfast", "deny"],
  ["grep -r -m 5 token holdfast/", "deny"],
  ["rg -g '*' token holdfast", "deny"],
  ["rg -r x token holdfast", "deny"],
  ["grep -e token -r holdfast", "deny"],
  ["find . -name '*.md' -exec grep -l token {} +", "allow"],
  ["find . -name '*.json' | xargs grep token", "allow"],
  ["find . -name '*token*' -exec cat {} +", "deny"],
  ["find . -type f -exec cat {} +", "deny"],
  ["find /srv -name '*.md' -exec cat {} +", "deny"],
])("%s: %s", (command, decision) => {
  expect(createSelfProtection(withDataHere).judge({ tool: "bash", input: { command } }).decision).toBe(decision)
})
