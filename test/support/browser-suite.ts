import { test } from "vitest"
import { browserPath } from "../inspector/browser.ts"

/**
 * A test in a real browser. Without a browser it is skipped, and the end of the run says why; with HOLDFAST_REQUIRE_BROWSER=1 it fails
 * instead, so that CI cannot pass without opening the pages.
 */
export const browserTest: ReturnType<typeof test.skipIf> = test.skipIf(
  browserPath === undefined && process.env.HOLDFAST_REQUIRE_BROWSER !== "1",
)
