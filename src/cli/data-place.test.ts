import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, expect, test } from "vitest"
import {
  dataPlace,
  formerStore,
  movingWords,
  openPlace,
  placeWords,
  usualDirectory,
  usualFolders,
} from "./ask-store.ts"
import { failureOf } from "./command.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-place-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(join(folder, "there.d"))
writeFileSync(join(folder, "plain"), "")
const inside = (...names: readonly string[]): string => join(folder, ...names)

const cases: readonly (readonly [why: string, given: string | undefined, env: string | undefined, place: string])[] = [
  ["nothing said: the user's data folder", undefined, undefined, inside("home/.local/share/holdfast/holdfast.db")],
  ["an empty variable says nothing", undefined, "", inside("home/.local/share/holdfast/holdfast.db")],
  ["the variable", undefined, inside("plain"), inside("plain")],
  ["the option before the variable", inside("plain"), inside("there.d"), inside("plain")],
  ["a folder that is there, whatever its name", inside("there.d"), undefined, inside("there.d", "holdfast.db")],
  ["a file that is there, whatever its name", inside("plain"), undefined, inside("plain")],
  ["a new name with an extension is a file", inside("new.db"), undefined, inside("new.db")],
  ["a new name without is a folder", inside("new"), undefined, inside("new", "holdfast.db")],
  ["a new name with a stroke behind it is a folder", `${inside("new.d")}/`, undefined, inside("new.d", "holdfast.db")],
  ["the usual folder by name", ".holdfast", undefined, resolve(".holdfast/holdfast.db")],
  ["a folder called memory is no store in memory", "memory", undefined, resolve("memory/holdfast.db")],
  ["an address", "postgres://u:p@h/d", undefined, "postgres://u:p@h/d"],
  ["an address in the other spelling", undefined, "postgresql://h/d", "postgresql://h/d"],
]
test.each(cases)("%s", (_why, given, HOLDFAST_DATA, place) => {
  expect(dataPlace(given, { HOLDFAST_DATA, HOME: inside("home"), XDG_DATA_HOME: inside("home/.local/share") })).toBe(
    place,
  )
})

test.each(["", "a\0b", "mysql://me:hidden@host/db"])("%j is no place, and is not quoted", (given) => {
  const failure = failureOf(() => dataPlace(given, {}))
  expect(failure).toMatchObject({ exit: 2 })
  expect(JSON.stringify(failure)).not.toContain("hidden")
})

test("a data folder that is made is kept out of git, and one of somebody else's is left alone", async () => {
  for (const place of [inside("made", "holdfast.db"), inside("there.d", "holdfast.db")]) {
    const store = await openPlace(place, {}, { make: true })
    await store.close()
  }
  expect(readFileSync(inside("made", ".gitignore"), "utf8")).toBe("*\n")
  expect(existsSync(inside("there.d", ".gitignore"))).toBe(false)
})

test("an address is never told", () => {
  expect(placeWords("postgres://me:hidden@host/db")).toBe("the PostgreSQL store")
})

test("a name that is too long for the disk is told as a store that cannot be reached", async () => {
  await expect(openPlace(inside(`${"x".repeat(5000)}.db`), {})).rejects.toMatchObject({
    problem: { code: "store-unavailable" },
  })
})

const home = "/home/jane"
test.each<[platform: string, env: Readonly<Record<string, string>>, data: string, config: string]>([
  ["linux", { HOME: home }, "/home/jane/.local/share/holdfast", "/home/jane/.config/holdfast"],
  ["linux", { HOME: home, XDG_DATA_HOME: "/d", XDG_CONFIG_HOME: "/c" }, "/d/holdfast", "/c/holdfast"],
  [
    "linux",
    { HOME: home, XDG_DATA_HOME: "not/absolute" },
    "/home/jane/.local/share/holdfast",
    "/home/jane/.config/holdfast",
  ],
  [
    "darwin",
    { HOME: home },
    "/home/jane/Library/Application Support/holdfast",
    "/home/jane/Library/Application Support/holdfast",
  ],
  [
    "win32",
    { USERPROFILE: "C:\\Users\\jane", LOCALAPPDATA: "C:\\L", APPDATA: "C:\\R" },
    "C:\\L\\holdfast",
    "C:\\R\\holdfast",
  ],
])("the user's own folders on %s with %j", (platform, env, data, config) => {
  expect(usualFolders(env, platform)).toEqual({ data, config })
})

test("a store that an earlier version left in the working folder is used and named; one that came with a repository is not", async () => {
  const env = {
    HOME: inside("home"),
    XDG_DATA_HOME: inside("home", "share"),
    XDG_CONFIG_HOME: inside("home", "config"),
  }
  const project = mkdtempSync(join(folder, "project-"))
  const before = process.cwd()
  process.chdir(project)
  try {
    const own = join(env.XDG_DATA_HOME, "holdfast", "holdfast.db")
    expect(dataPlace(undefined, env)).toBe(own)
    expect(usualDirectory(own, env)).toBe(join(env.XDG_CONFIG_HOME, "holdfast", "policy"))
    mkdirSync(".holdfast")
    writeFileSync(".holdfast/holdfast.db", "", { mode: 0o644 })
    expect([formerStore(), dataPlace(undefined, env)]).toEqual([undefined, own])
    chmodSync(".holdfast/holdfast.db", 0o600)
    const former = resolve(".holdfast/holdfast.db")
    expect(dataPlace(undefined, env)).toBe(former)
    expect(usualDirectory(former, env)).toBe(resolve(".holdfast/policy"))
    expect(movingWords(former, env)).toContain(join(env.XDG_DATA_HOME, "holdfast"))
    expect(movingWords(own, env)).toBeUndefined()
  } finally {
    process.chdir(before)
  }
})
