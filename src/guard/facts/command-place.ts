import { type Environment, environmentsIn, targetEnvironments } from "./action.ts"
import type { RunCommand } from "./commands.ts"

/** Building and testing for production is none of production's business. */
export const isBuild = (line: string): boolean =>
  /^(?:npm|pnpm|yarn|bun|npx|(?:docker|podman) (?:buildx )?build|docker compose build|make|git|node|vite|webpack|tsc|next|rake assets|go|cargo|pip3?|mvn|gradle|echo|helm template|kubectl diff)\b/.test(
    line,
  ) && !/^git push/.test(line)

const targetOption =
  /^(?:-[hdnHea]|--(?:host|hostname|dbname|database|db|namespace|context|kube-context|profile|project|env|environment|stage|cluster|instance|app|workspace|account|subscription|resource-group|server|uri|url|remote|region|config|target|chdir|var-file|db-instance-identifier|db-cluster-identifier|stack|stack-name|name|bucket|table-name|function-name|service)|-chdir|-var-file|-var)$/
const connection = /^[a-z][a-z\d+]{2,20}:\/\//i

/** What a build has made: a folder in it may be named after production, and is none of it. */
const builtFiles = /(?<![\w/])(?:\.\/)?(?:build|dist|out|target|node_modules|\.next|coverage|public)\/\S*/g
export const withoutBuiltFiles = (text: string): string =>
  (text.includes("/") ? text.replace(builtFiles, " ") : text).replace(/--build-arg[= ]\S+/g, " ")

/** The environments that a command names: production anywhere, others only where it says what it acts on. */
export function environmentsOf({ name, words, places, sets }: RunCommand): readonly Environment[] {
  if (isBuild([name, ...words.slice(1)].join(" "))) return []
  const values = [...sets].flatMap(([key, values]) => [key, ...values])
  const line = withoutBuiltFiles([...words, ...places, ...values].join(" ").slice(0, 20_000))
  const found = new Set<Environment>(environmentsIn(line, false).filter((one) => one === "production"))
  const targets = [...places, ...[...sets.values()].flat()]
  for (const [at, word] of words.entries()) {
    if (at === 0) continue
    if (targetOption.test(words[at - 1] ?? "") || connection.test(word)) targets.push(word)
    const valued = /^(-{1,2}[\w-]+)=(.*)$/s.exec(word)
    if (valued !== null && targetOption.test(valued[1] ?? "")) targets.push(valued[2] ?? "")
  }
  // A database by its name or its file, and what a tool of one's own is told to act on.
  if (
    /^(?:sqlite3?|duckdb|dropdb|createdb|psql|mysql|mariadb|mongosh|mongo|redis-cli|mysqladmin|kubectx|kubens)$/.test(
      name,
    )
  )
    targets.push(...words.slice(1).filter((word) => !/^-|\s/.test(word)))
  for (const environment of targetEnvironments(targets)) found.add(environment)
  return [...found]
}
