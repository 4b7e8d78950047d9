import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { managerOf } from "./service-command.ts"

const home = mkdtempSync(join(tmpdir(), "holdfast-service-"))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** A systemctl that writes down what it is asked, and ends as the test says. */
function fakeControl(exit: number): Record<string, string> {
  const path = join(home, "systemctl")
  writeFileSync(path, `#!/bin/sh\necho "$@" >> ${join(home, "asked")}\necho "says $1 $2"\nexit ${exit}\n`)
  chmodSync(path, 0o755)
  return { PATH: `${home}:${process.env.PATH}`, HOME: home }
}

const unit = join(home, ".config/systemd/user/holdfast.service")

describe.skipIf(process.platform !== "linux")("on Linux", () => {
  test("install writes a user unit and starts it, status asks for it, remove takes both back", async () => {
    const env = fakeControl(0)
    expect(await holdfast(["service", "status", "--json"], { env })).toMatchObject({
      stdout: expect.stringContaining('"installed":false'),
    })
    const data = join(home, "with blank %h $HOME")
    const { exit, stdout } = await holdfast(["service", "install", "--data", data], { env })
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("Installed and started") })
    const text = readFileSync(unit, "utf8")
    expect(text).toContain(`"serve" "--data" "${data.replace("%", "%%").replace("$", "$$$$")}"`)
    expect(text).toMatch(/^ExecStart="\//m)
    expect(JSON.parse((await holdfast(["service", "status", "--json"], { env })).stdout)).toMatchObject({
      installed: true,
      running: true,
    })
    expect((await holdfast(["service", "remove"], { env })).exit).toBe(0)
    expect(existsSync(unit)).toBe(false)
    expect(readFileSync(join(home, "asked"), "utf8").trim().split("\n")).toEqual([
      "--user daemon-reload",
      "--user enable --now holdfast.service",
      "--user is-active holdfast.service",
      "--user disable --now holdfast.service",
    ])
  })

  test("what systemd refuses is told with its words", async () => {
    const { exit, stderr } = await holdfast(["service", "install"], { env: fakeControl(3) })
    expect(exit).toBe(1)
    expect(stderr).toContain("systemctl --user daemon-reload failed: says --user daemon-reload")
  })
})

test("a Mac gets an agent of launchd in which no text is markup, and other systems are told what to do", () => {
  const mac = managerOf("darwin", { HOME: "/home/me" })
  expect(mac.file).toBe("/home/me/Library/LaunchAgents/dev.holdfast.gateway.plist")
  expect(mac.text(["node", "a<b>&c"], "/f")).toContain("<string>a&#60;b&#62;&#38;c</string>")
  expect(() => managerOf("win32", {})).toThrow("On win32 holdfast cannot install itself as a service.")
})
