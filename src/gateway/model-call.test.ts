import { expect, test } from "vitest"
import { projectIn } from "./model-call.ts"

const body = (system: string, text = "Good morning."): Buffer =>
  Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: text }], system }))

const said: readonly (readonly [string, string | undefined])[] = [
  ["Env:\nWorking directory: /home/ada/air-desk\nPlatform: linux", "air-desk"],
  ["Primary working directory: /home/ada/air-desk/\n", "air-desk"],
  ["<env>\n  <cwd>/srv/Größe 2</cwd>\n</env>", "Größe 2"],
  ["<cwd>\n/home/ada/proj\n</cwd>", "proj"],
  ["I am working in the directory: C:\\Users\\Ada\\shop\nIts files:", "shop"],
  ["Current working directory: ~/notes", "notes"],
  ["The working directory: the folder that commands run in.", undefined],
  ["Working directory: /", undefined],
  ['Working directory: /home/<img src=x onerror="1">', "home"],
  ["No folder at all.", undefined],
]
test.each(said)("the project in %j is %j", (system, project) => {
  expect(projectIn(body(system))).toBe(project)
  const long = "x".repeat(3_000_000)
  expect(projectIn(body(system, long)), "behind a long history").toBe(project)
})
