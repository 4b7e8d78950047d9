import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, normalize } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, expect, test } from "vitest"
import { configurationPage } from "../scripts/configuration-page.ts"
import { writeSite } from "../scripts/docs.ts"
import { root } from "./support/source.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-site-"))
beforeAll(() => writeSite(folder))
afterAll(() => rmSync(folder, { recursive: true }))

const pages = (): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"))
const read = (name: string): string => readFileSync(join(folder, name), "utf8")

test("the configuration page says what the schema says now", () => {
  expect(readFileSync(join(root, "docs/configuration.md"), "utf8"), "npm run docs writes it").toBe(configurationPage())
})

test("every page of docs is a page of the site, and every link of the site leads to a page and a heading", () => {
  const sources = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"))
  expect(sources.filter((name) => !existsSync(join(folder, name.replace(/md$/, "html"))))).toEqual([])
  const broken = pages().flatMap((page) =>
    [...read(page).matchAll(/(?:href|src)="([^"]+)"/g)].flatMap(([, href = ""]) => {
      if (/^https?:/.test(href)) return []
      const [path = "", anchor] = href.split("#")
      const to = path === "" ? page : normalize(join(dirname(page), path))
      if (!existsSync(join(folder, to))) return [`${page}: ${href}`]
      return anchor === undefined || read(to).includes(`id="${anchor}"`) ? [] : [`${page}: ${href}`]
    }),
  )
  expect(broken).toEqual([])
})

test("pages have no script, no inline style and nothing of another origin, and are light", () => {
  for (const page of pages()) {
    const html = read(page)
    expect(html).not.toMatch(/<script|<style| style=| on\w+=|<iframe/i)
    expect(html).not.toMatch(/<(?:img|link)[^>]+(?:src|href)="(?:https?:)?\/\//)
    expect(gzipSync(html).length).toBeLessThan(40_000)
  }
})
