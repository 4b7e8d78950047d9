import type { ToolNature } from "./tool-kind.ts"

/** A command says what it does in its first words; a longer one is a script, and scripts may do anything. */
const maxSeen = 2_000

const readers =
  /^(?:cat|bat|nl|head|tail|less|more|sed -n|awk|wc|stat|file|strings|xxd|od|jq|cut|sort|uniq|column|type|Get-Content)\b/
const searchers = /^(?:grep|egrep|fgrep|rg|ag|ack|git grep|find|fd|locate|which|whereis|Select-String)\b/
const listers = /^(?:ls|dir|tree|pwd|du|df|git ls-files|git branch|git tag|Get-ChildItem)\b/
const testers =
  /^(?:pytest|py\.test|python3? -m (?:pytest|unittest)|tox|nox|(?:npm|pnpm|yarn|bun)(?: run)? (?:test|check|lint)|(?:npx |bunx |pnpm )?(?:jest|vitest|mocha|tsc|eslint|biome|playwright test)|go (?:test|vet)|cargo (?:test|check|clippy)|mvn .{0,40}\btest|gradle\w* .{0,40}\btest|\.\/gradlew .{0,40}\btest|make (?:test|check|lint)|ctest|rspec|bundle exec rspec|phpunit|dotnet test|mix test|ruff|mypy|flake8|pylint)\b/
const differs = /^git (?:-\S+ )*(?:diff|show|log|blame|stash show)\b|^diff\b/
const fetchers = /^(?:curl|wget|http|lynx|Invoke-WebRequest)\b/
const idle =
  /^(?:cd|pushd|popd|echo|printf|true|set|export|source|env|printenv|date|whoami|hostname|uname|id|ps|git (?:status|remote|rev-parse|config --get)|test|sleep|wait|node --version|python3? --version)\b/

/** What writes although the command before it only reads. */
const writing =
  />(?!\s*(?:&|\/dev\/null))|\btee\b|\bsed -i|\bfind\b.{0,400}-(?:delete|exec(?:dir)? +(?!echo|cat|grep|ls|head|tail|wc|stat|file))|\bcurl\b.{0,400}(?:-X ?(?:POST|PUT|PATCH|DELETE)|--data|-d )|\bxargs\b.{0,40}\brm\b/

/** What a shell command does, by the first words of each of its steps: its kind, and whether it can change anything. */
export function commandNature(command: string): ToolNature {
  const seen = command.slice(0, maxSeen)
  const steps = seen
    .split(/&&|\|\||[;|\n]/)
    .map((step) => step.trim().replace(/^(?:\w+=\S* |sudo |time |timeout \S+ |command |exec )+/, ""))
    .filter((step) => step !== "")
  const kinds = steps.map(stepKind)
  const writes = command.length > maxSeen || kinds.includes(undefined) || writing.test(seen)
  const told = kinds.find((kind): kind is ToolNature["kind"] => kind !== "idle" && kind !== undefined)
  // What runs tests writes caches at most, wherever its output is piped to.
  if (kinds.includes("test")) return { kind: "test", writes: false }
  return { kind: writes || told === undefined ? "shell" : told, writes }
}

function stepKind(step: string): ToolNature["kind"] | "idle" | undefined {
  if (differs.test(step)) return "diff"
  if (searchers.test(step)) return "search"
  if (testers.test(step)) return "test"
  if (readers.test(step)) return "read"
  if (listers.test(step)) return "list"
  if (fetchers.test(step)) return "web"
  return idle.test(step) ? "idle" : undefined
}
