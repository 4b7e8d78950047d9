import { expect, test } from "vitest"
import { type ToolKind, toolNature } from "./tool-kind.ts"

const named: readonly (readonly [tool: string, input: unknown, kind: ToolKind, writes: boolean])[] = [
  ["Read", { file_path: "a.ts" }, "read", false],
  ["read_file", { path: "a.ts" }, "read", false],
  ["mcp__files__view", {}, "read", false],
  ["openDocument", {}, "read", false],
  ["Grep", { pattern: "x" }, "search", false],
  ["search_files", {}, "search", false],
  ["list_directory", {}, "list", false],
  ["Glob", {}, "list", false],
  ["web_search", { query: "x" }, "web", false],
  ["WebFetch", {}, "web", false],
  ["run_tests", {}, "test", false],
  ["get_user_details", { id: 1 }, "json", false],
  ["calculate", { expression: "1+1" }, "other", false],
  ["edit", { path: "a", oldText: "x", newText: "y" }, "other", true],
  ["write_file", { path: "a", content: "x" }, "other", true],
  ["apply_patch", { patch: "x" }, "diff", true],
  ["book_reservation", {}, "other", true],
  ["send_email", {}, "other", true],
  ["str_replace_editor", { command: "view", path: "a" }, "read", false],
  ["str_replace_editor", { command: "create", path: "a", file_text: "x" }, "other", true],
  ["str_replace_editor", { path: "a", start: 1, end: 20 }, "read", false],
  ["", undefined, "other", false],
]
test.each(named)("%s with %j gives %s", (tool, input, kind, writes) => {
  expect(toolNature(tool, input)).toEqual({ kind, writes })
})

const commands: readonly (readonly [command: string | readonly string[], kind: ToolKind, writes: boolean])[] = [
  ["cat src/a.ts", "read", false],
  ["cd /x && sed -n '1,20p' a.py", "read", false],
  ["sed -i s/a/b/ a.py", "shell", true],
  ["cat > a.txt", "shell", true],
  ["cat a.txt 2>/dev/null", "read", false],
  ["grep -rn foo src | head -20", "search", false],
  ["find . -name '*.ts' -exec cat {} +", "search", false],
  ["find . -name '*.tmp' -delete", "shell", true],
  ["ls -la", "list", false],
  ["npm test 2>&1 | tail -40", "test", false],
  ["python -m pytest -q tests", "test", false],
  ["git diff HEAD~1", "diff", false],
  ["git commit -m x", "shell", true],
  ["curl https://example.com", "web", false],
  ["curl -X POST https://example.com -d x", "shell", true],
  ["rm -rf build", "shell", true],
  ["echo done", "shell", false],
  [["bash", "-lc", "rg foo"], "search", false],
]
test.each(commands)("the command %j is a %s", (command, kind, writes) => {
  expect(toolNature("exec_command", { command })).toEqual({ kind, writes })
})

test("a script too long to look through may have done anything", () => {
  expect(toolNature("bash", { command: `cat a\n${"# ".repeat(2_000)}` }).writes).toBe(true)
})
