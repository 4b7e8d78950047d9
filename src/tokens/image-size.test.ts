import { expect, test } from "vitest"
import { inlineImageSize } from "./image-size.ts"

const base64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString("base64")
const ascii = (text: string): readonly number[] => Array.from(text, (character) => character.charCodeAt(0))

const png = [0x89, ...ascii("PNG\r\n\x1a\n"), 0, 0, 0, 13, ...ascii("IHDR"), 0, 0, 0x04, 0x00, 0, 0, 0x02, 0x58, 8, 6]
const gif = [...ascii("GIF89a"), 0x40, 0x01, 0xf0, 0x00, 0]
const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 6, 1, 2, 3, 4, 0xff, 0xc0, 0, 17, 8, 0x03, 0x00, 0x04, 0x00, 3]
const riff = [...ascii("RIFF"), 1, 0, 0, 0, ...ascii("WEBP")]
const lossy = [...riff, ...ascii("VP8 "), 1, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0xe0, 0x01]
const lossless = [...riff, ...ascii("VP8L"), 1, 0, 0, 0, 0x2f, 0x7f, 0xc2, 0x77, 0x00]
const extended = [...riff, ...ascii("VP8X"), 10, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0x07, 0, 0x37, 0x04, 0]

const cases: readonly (readonly [string, readonly number[], number, number])[] = [
  ["PNG", png, 1024, 600],
  ["GIF", gif, 320, 240],
  ["JPEG", jpeg, 1024, 768],
  ["WebP, lossy", lossy, 640, 480],
  ["WebP, lossless", lossless, 640, 480],
  ["WebP, extended", extended, 1920, 1080],
]
test.each(cases)("%s in an Anthropic block, a data URL and a Gemini part", (_name, bytes, width, height) => {
  const data = base64(bytes)
  const size = { width, height }
  expect(
    inlineImageSize(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${data}"}}`),
  ).toEqual(size)
  expect(inlineImageSize(`{"type":"image_url","image_url":{"url":"data:image/png;base64,${data}"}}`)).toEqual(size)
  expect(inlineImageSize(`{"inlineData":{"mimeType":"image/png","data" : "${data}"}}`)).toEqual(size)
})

test.each([
  ["nothing", ""],
  ["a link", '{"url":"https://example.com/a.png"}'],
  ["no picture", `{"data":"${base64(ascii("hello world, this is text"))}"}`],
  ["a picture cut short", `{"data":"${base64(png.slice(0, 12))}"}`],
  ["not base64", '{"data":"§§§§§§§§§§§§§§"}'],
  [
    "segments without end",
    `{"data":"${base64([0xff, 0xd8, ...Array.from({ length: 900 }, (_, n) => [0xff, 0xe0, 0, 2][n % 4] ?? 0)])}"}`,
  ],
])("%s has no size", (_name, wire) => {
  expect(inlineImageSize(wire)).toBeUndefined()
})
