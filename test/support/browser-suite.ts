import { test } from "vitest"
import { browserPath } from "../inspector/browser.ts"

/**
 * A test in a real browser. Where there is none it is skipped, and the end of the run says why; with HOLDFAST_REQUIRE_BROWSER=1 it fails
 * instead, so that CI takes no page for tested that was not opened.
 */
export const browserTest: ReturnType<typeof test.skipIf> = test.skipIf(
  browserPath === undefined && process.env.HOLDFAST_REQUIRE_BROWSER !== "1",
)
