import { expect, test } from "vitest"
import { tokens } from "../message/message.ts"
import { type Calibration, calibrate, predict, uncalibrated, voidAnchor } from "./calibrate.ts"

const sample = (estimated: number, reported: number) => ({ estimated: tokens(estimated), reported: tokens(reported) })

const ratios: readonly (readonly [string, Calibration, number, number, number])[] = [
  ["the provider counts a fifth more", uncalibrated, 10_000, 12_000, 1.2],
  ["the last request replaces what was learned before", { ratio: 1.9 }, 10_000, 9000, 0.9],
  ["far more than any vocabulary explains: clamped", uncalibrated, 10_000, 90_000, 2],
  ["far less: clamped", uncalibrated, 10_000, 100, 0.5],
  ["too small a request to learn a ratio from", { ratio: 1.3 }, 100, 300, 1.3],
]
test.each(ratios)("%s", (_why, before, estimated, reported, ratio) => {
  expect(calibrate(before, sample(estimated, reported)).ratio).toBeCloseTo(ratio)
})

test("a report of nothing teaches nothing", () => {
  expect(calibrate({ ratio: 1.1 }, sample(1000, 0))).toEqual({ ratio: 1.1 })
  expect(calibrate({ ratio: 1.1 }, sample(0, 1000))).toEqual({ ratio: 1.1 })
})

const learned = calibrate(uncalibrated, sample(10_000, 12_000))
const predictions: readonly (readonly [string, Calibration, number, number])[] = [
  ["nothing learned: our own count", uncalibrated, 10_000, 10_000],
  ["the same request again: what was reported", learned, 10_000, 12_000],
  ["new messages at the learned ratio", learned, 11_000, 13_200],
  ["shorter than what was reported: the ratio alone", learned, 5000, 6000],
  ["after a compaction: the ratio alone", voidAnchor(learned), 11_000, 13_200],
  ["after a compaction to half", voidAnchor(learned), 5000, 6000],
  ["a clamped ratio still starts from what was reported", calibrate(uncalibrated, sample(1000, 50_000)), 1100, 50_200],
]
test.each(predictions)("%s", (_why, calibration, estimated, expected) => {
  expect(predict(calibration, tokens(estimated))).toBe(expected)
})
