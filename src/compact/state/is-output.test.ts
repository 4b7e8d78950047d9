import { expect, test } from "vitest"
import { isOutput } from "./user-texts.ts"

test.each([
  ["a listing with numbers", "[File: a.py (40 lines)]\n1:import os\n2:\n3:def run():\n4:    return os\n"],
  ["a result under its name", "Observation: the door must never be opened twice"],
  ["a shell that waits", "total 0\ndrwxr-xr-x ships\n(Current directory: /tmp)\nbash-$ "],
  ["code", "import os\nfrom a import b\n\ndef run():\n    return 1;\n\nclass Ship:\n    return {};\n"],
  ["a log", "INFO start\nINFO open\nWARN never closed\nERROR cannot read\nINFO stop\nDEBUG end\n"],
])("%s is program output", (_why, text) => {
  expect(isOutput(text)).toBe(true)
})

test.each([
  "Never push to main.",
  "Some rules:\n- no new files\n- ask before you delete\n- tests first\n- never mock the clock\n- keep it short\n- no emojis",
  "Rules for the port:\n(a) no oil\n(b) no fire\n(c) always ask\n(d) never anchor\n(e) keep left\n(f) be kind",
  "# Port\n# Rules\n[ ] never anchor\n[x] ask first\n* no oil\n> as I said\n1. be kind\n2. keep left",
  "The build fails with:\n\n  cannot find module\n\nPlease look into it. And never touch the lock file.",
  "Just commit, never push, as I said.\n\nINFO start\nINFO open\nWARN never closed\nERROR cannot read\nINFO stop\nDEBUG end",
  "",
])("a person's text is not program output: %s", (text) => {
  expect(isOutput(text)).toBe(false)
})
