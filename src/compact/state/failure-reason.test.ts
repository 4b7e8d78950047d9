import { describe, expect, test } from "vitest"
import { failureReason, reasonWithin } from "./failure-reason.ts"
import { textEnds } from "./result-text.ts"

const reasonOf = (...lines: readonly string[]): string => failureReason(textEnds(lines.join("\n")), undefined) ?? ""

describe("the reason of a failed test names the test and what was wrong", () => {
  test.each([
    [
      "pytest",
      ["E   ValueError: bad", "FAILED tests/test_zone.py::test_hour[2026-10-25] - ValueError: length differs"],
      "ValueError: length differs",
      "tests/test_zone.py::test_hour[2026-10-25]",
    ],
    [
      "gradle",
      [
        "ListTest > sorts by name FAILED",
        "    java.lang.AssertionError: expected:<NAME> but was:<MANUAL>",
        "BUILD FAILED in 1m",
      ],
      "expected:<NAME> but was:<MANUAL>",
      "ListTest > sorts by name",
    ],
    [
      "go",
      ["--- FAIL: TestDrain (0.02s)", "    drain_test.go:41: got 2 nodes, want 3", "FAIL"],
      "got 2 nodes, want 3",
      "TestDrain",
    ],
    [
      "cargo",
      [
        "test charge::twice ... FAILED",
        "",
        "---- charge::twice stdout ----",
        "thread 'charge::twice' panicked at src/charge.rs:88:5:",
        "assertion `left == right` failed",
      ],
      "assertion `left == right` failed",
      "charge::twice",
    ],
    [
      "jest",
      ["  ● basket › keeps its total", "", "    Error: expected 4 to equal 5"],
      "expected 4 to equal 5",
      "basket › keeps its total",
    ],
    [
      "playwright",
      ["  1) [chromium] › slot.spec.ts:11:7 › shows full ─────", "", "    Error: strict mode violation: 2 elements"],
      "strict mode violation: 2 elements",
      "slot.spec.ts:11:7",
    ],
  ] as const)("%s", (_, output, message, name) => {
    expect(reasonOf(...output)).toContain(message)
    expect(reasonOf(...output)).toContain(name)
  })
})

describe("the cause below an error", () => {
  test("the deepest one is told", () => {
    const reason = reasonOf(
      "  × Failed to fetch: `https://pkg.example/ruff/`",
      "  ├─▶ error sending request",
      "  ╰─▶ failed to look up the address: Temporary failure in name resolution",
    )
    expect(reason).toMatch(/^× Failed to fetch.*cause: failed to look up the address: Temporary failure/)
    const nested = reasonOf(
      "error: could not create index",
      "",
      "Caused by:",
      "    0: error from the database",
      "    1: Key (call)=(88213) is duplicated.",
    )
    expect(nested).toContain("Key (call)=(88213) is duplicated.")
  })

  test("that a build failed says less than why", () => {
    expect(
      reasonOf("> Task :app:compile FAILED", "src/Main.kt:12:5: error: unresolved reference", "BUILD FAILED in 9s"),
    ).toContain("unresolved reference")
  })
})

test("a reason that is cut keeps its beginning and what was wrong in the end", () => {
  const reason =
    "docker: Error response from daemon: failed to set up container networking: driver failed programming external connectivity on endpoint pg14 (e0b1f6c6b5d2): Bind for 0.0.0.0:5433 failed: port is already allocated"
  const short = reasonWithin(reason, 120)
  expect(short.length).toBeLessThanOrEqual(120)
  expect(short).toMatch(/^docker: .*port is already allocated$/)
  expect(reasonWithin("short", 120)).toBe("short")
})

test("no output makes the search for a reason slow", () => {
  const hostile = [
    "FAILED ".repeat(4000),
    `${"a > ".repeat(4000)}FAILED`,
    "1) ".repeat(8000),
    "cause: ".repeat(4000),
  ].join("\n")
  expect(failureReason(textEnds(hostile.repeat(8)), undefined)).toBeDefined()
})

describe("what stands around the reason", () => {
  test("a line that announces an error as data does not hide it", () => {
    const reason = reasonOf(
      "MCP error: tool returned isError=true",
      "{",
      '  "error": {',
      '    "code": "WINDOW_CLOSED",',
      '    "message": "the exchange window ended on 16 September"',
      "  }",
      "}",
    )
    expect(reason).toBe("WINDOW_CLOSED: the exchange window ended on 16 September")
  })

  test("advice is left out rather than the error", () => {
    const error = `ERROR Multiple heads are present for 'head'; please specify a target revision, ${"one of the branches, ".repeat(12)}`
    const short = reasonWithin(`${error}; table berths stays locked`, 120)
    expect(short).toContain("Multiple heads are present")
    expect(short).toMatch(/table berths stays locked$/)
  })

  test("why a push was refused comes before the hint on what to do", () => {
    const output = [
      "To host:x.git",
      " ! [rejected]        fix/zone -> fix/zone (non-fast-forward)",
      "error: failed to push some refs",
      "hint: Updates were rejected because the tip is behind",
    ]
    expect(reasonOf(...output)).toContain("non-fast-forward")
  })

  test("the finding of a linter is told before their number", () => {
    expect(
      failureReason(
        textEnds("F401 [*] `os` imported but unused\n  --> app/x.py:3:8\nFound 3 errors."),
        "Found 3 errors.",
      ),
    ).toContain("F401")
  })
})
