import { expect, test } from "vitest"
import { createGuard } from "../guard.ts"

/** What agents and MCP servers call without anybody declaring it: for each, a call that the policies let through and one that they do not. */
const guard = createGuard([
  { template: "email-domains", domains: ["acme.example"] },
  { template: "spend-limit", amount: 100, currency: "USD" },
  { template: "protected-paths", paths: ["/srv/vault"], access: "any" },
  { template: "no-production-destruction" },
  { template: "no-personal-data" },
])

type Call = readonly [tool: string, input: unknown]

const patch = (file: string): string => `*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch`

const calls: readonly (readonly [whose: string, allowed: Call, denied: Call])[] = [
  ["Claude Code, shell", ["Bash", { command: "npm test" }], ["Bash", { command: "cat /srv/vault/a" }]],
  ["Claude Code, read", ["Read", { file_path: "/home/dev/a.ts" }], ["Read", { file_path: "/srv/vault/a" }]],
  [
    "Claude Code, edit",
    ["Edit", { file_path: "/home/dev/a.ts", old_string: "a", new_string: "b" }],
    ["Edit", { file_path: "/srv/vault/a", old_string: "a", new_string: "b" }],
  ],
  [
    "Codex, shell",
    ["shell", { command: ["bash", "-lc", "ls"], workdir: "/work" }],
    ["shell", { command: ["bash", "-lc", "ls vault"], workdir: "/srv" }],
  ],
  [
    "Codex, apply_patch",
    ["apply_patch", { input: patch("src/a.ts") }],
    ["apply_patch", { input: patch("/srv/vault/a") }],
  ],
  [
    "Codex, write_stdin",
    ["write_stdin", { session_id: 1, chars: "ls\n" }],
    ["write_stdin", { session_id: 1, chars: "cat /srv/vault/a\n" }],
  ],
  [
    "Gemini CLI, shell",
    ["run_shell_command", { command: "git status" }],
    ["run_shell_command", { command: "rm /srv/vault/a" }],
  ],
  [
    "Gemini CLI, replace",
    ["replace", { file_path: "/home/dev/a", old_string: "a", new_string: "b" }],
    ["replace", { file_path: "/srv/vault/a", old_string: "a", new_string: "b" }],
  ],
  [
    "opencode, edit",
    ["edit", { filePath: "/home/dev/a", oldString: "a", newString: "b" }],
    ["edit", { filePath: "/srv/vault/a", oldString: "a", newString: "b" }],
  ],
  ["pi, bash", ["bash", { command: "ls -la", timeout: 5 }], ["bash", { command: "cp /srv/vault/a .", timeout: 5 }]],
  ["pi, write", ["write", { path: "a.md", content: "x" }], ["write", { path: "/srv/vault/a", content: "x" }]],
  [
    "qwen, read_many_files",
    ["read_many_files", { paths: ["src/a.ts"] }],
    ["read_many_files", { paths: ["src/a.ts", "/srv/vault/a"] }],
  ],
  [
    "MCP, file system",
    ["mcp__filesystem__move_file", { source: "a", destination: "b" }],
    ["mcp__filesystem__move_file", { source: "/srv/vault/a", destination: "b" }],
  ],
  [
    "MCP, git",
    ["mcp__git__git_add", { repo_path: "/work", files: ["a"] }],
    ["mcp__git__git_add", { repo_path: "/work", files: ["/srv/vault/a"] }],
  ],
  [
    "MCP, GitHub",
    ["mcp__github__add_issue_comment", { owner: "a", repo: "b", issue_number: 1, body: "Done." }],
    ["mcp__github__add_issue_comment", { owner: "a", repo: "b", issue_number: 1, body: "SSN 536-22-8726" }],
  ],
  [
    "MCP, Slack",
    ["mcp__slack__slack_post_message", { channel_id: "C1", text: "Done." }],
    ["mcp__slack__slack_post_message", { channel_id: "C1", text: "SSN 536-22-8726" }],
  ],
  [
    "MCP, Gmail",
    ["mcp__gmail__send_email", { to: ["ann@acme.example"], subject: "Hello", body: "Hello" }],
    ["mcp__gmail__send_email", { to: ["ann@acme.example"], cc: ["eve@evil.example"], subject: "Hello", body: "Hello" }],
  ],
  [
    "MCP, PostgreSQL",
    ["mcp__postgres__query", { sql: "SELECT count(*) FROM orders", database: "prod" }],
    ["mcp__postgres__query", { sql: "DROP TABLE orders", database: "prod" }],
  ],
  [
    "MCP, Stripe",
    ["mcp__stripe__create_refund", { payment_intent: "pi_1", amount: 9_900, currency: "usd" }],
    ["mcp__stripe__create_refund", { payment_intent: "pi_1", amount: 10_100, currency: "usd" }],
  ],
]

test.each(calls)("%s: the tool is known, and judged by what its fields hold", (_whose, allowed, denied) => {
  for (const [[tool, input], decision] of [
    [allowed, "allow"],
    [denied, "deny"],
  ] as const) {
    const verdict = guard.judge({ tool, input })
    expect([verdict.decision, verdict.facts.declared]).toEqual([decision, true])
  }
})
