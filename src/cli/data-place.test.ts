import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, expect, test } from "vitest"
import { dataPlace, openPlace, placeWords } from "./ask-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-place-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(join(folder, "there.d"))
writeFileSync(join(folder, "plain"), "")
const inside = (...names: readonly string[]): string => join(folder, ...names)

const cases: readonly (readonly [why: string, given: string | undefined, env: string | undefined, place: string])[] = [
  ["nothing said: the usual place", undefined, undefined, resolve(".holdfast/holdfast.db")],
  ["an empty variable says nothing", undefined, "", resolve(".holdfast/holdfast.db")],
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
  expect(dataPlace(given, { HOLDFAST_DATA })).toBe(place)
})

test.each(["", "a\0b", "mysql://me:hidden@host/db"])("%j is no place, and is not quoted", (given) => {
  const failure = dataPlace(given, {})
  expect(failure).toMatchObject({ exit: 2 })
  expect(JSON.stringify(failure)).not.toContain("hidden")
})

test("a data folder that is made is kept out of git, and one of somebody else's is left alone", async () => {
  for (const place of [inside("made", "holdfast.db"), inside("there.d", "holdfast.db")]) {
    const store = await openPlace(place, { make: true })
    if ("close" in store) await store.close()
  }
  expect(readFileSync(inside("made", ".gitignore"), "utf8")).toBe("*\n")
  expect(existsSync(inside("there.d", ".gitignore"))).toBe(false)
})

test("an address is never told", () => {
  expect(placeWords("postgres://me:hidden@host/db")).toBe("the PostgreSQL store")
})

test("a name that is too long for the disk is told as a store that cannot be reached", async () => {
  await expect(openPlace(inside(`${"x".repeat(5000)}.db`))).rejects.toMatchObject({
    problem: { code: "store-unavailable" },
  })
})
