import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { looksLikeFailure } from "./model-write.ts"

test.each([
  ["", "empty"],
  [" \n\t…", "empty"],
  ["<!DOCTYPE html><html><title>502 Bad Gateway</title></html>", "html-page"],
  ["<html>\n<head><title>Error</title></head></html>", "html-page"],
  ['<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "html-page"],
  ['{"error":{"message":"quota","type":"insufficient_quota"}}', "error-object"],
  ['{"detail":"Not authenticated"}', "error-object"],
  ["Error: connect ECONNREFUSED 127.0.0.1:80", "error-message"],
  ["TypeError: Cannot read properties of undefined (reading 'x')", "error-message"],
  ["openai.RateLimitError: slow down", "error-message"],
  ["**Error:** the model is overloaded", "error-message"],
  ["Error code: 429 - {'error': {'message': 'Rate limit'}}", "error-message"],
  ["HTTP 503 Service Unavailable", "error-message"],
  ["Request failed with status code 500", "error-message"],
  ["429 Too Many Requests", "error-message"],
  ["Internal Server Error", "error-message"],
  ["Rate limit exceeded, please try again in 20s", "error-message"],
  ["upstream connect error or disconnect/reset before headers", "error-message"],
  ["An error occurred while processing your request.", "error-message"],
  ["Fehler: Zeitüberschreitung", "error-message"],
  ['Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: x', "stack-trace"],
  ["TypeError: x is not a function\n    at run (/app/a.js:3:4)\n    at main (/app/b.js:1:1)", "stack-trace"],
  [
    "java.lang.IllegalStateException: no\n\tat com.shop.Tax.run(Tax.java:12)\n\tat com.shop.Main.main(Main.java:3)",
    "stack-trace",
  ],
  ["I'm sorry, but I can't help with that.", "refusal"],
  ["I’m sorry, I cannot assist with this request.", "refusal"],
  ["I cannot provide a summary of this conversation.", "refusal"],
  ["Unfortunately, I am unable to process this request.", "refusal"],
  ["As an AI language model, I cannot access files.", "refusal"],
  ["I must decline to do this.", "refusal"],
  ["Es tut mir leid, aber ich kann dabei nicht helfen.", "refusal"],
  ["Je suis désolé, mais je ne peux pas vous aider.", "refusal"],
  ["Lo siento, pero no puedo ayudar con eso.", "refusal"],
  ["К сожалению, я не могу выполнить этот запрос.", "refusal"],
  ["抱歉，我无法协助处理这个请求。", "refusal"],
  ["申し訳ありませんが、そのご依頼にはお応えできません。", "refusal"],
])("%j is no summary: %s", (text, kind) => {
  expect(looksLikeFailure(text)).toBe(kind)
})

test.each([
  "The build failed with a TypeError in tax.ts; the null check in readTax mended it.",
  "Errors and fixes:\n- TypeError in tax.ts: fixed\n- 503 from the shop API: retried\n- timeout: raised",
  "# Errors\n- Error: ECONNREFUSED when the database was down; started it.\n- All else is green.",
  "The user asked why the API answers 500 Internal Server Error; the cause is not known yet.",
  "The assistant said: I'm sorry, but I can't open that file. The user then pasted it.",
  "I can't reproduce the crash; the user will send a log.",
  "I renamed the field. I cannot say yet whether the report is right.",
  "User wants HTML pages: <html lang> must be set on each.",
  "500 orders were imported and 12 were rejected; the user wants the rejected ones listed.",
  "404 page redesigned: done. 500 page: pending.",
  "Sorry state of the tests: 14 failing, all in tax; user wants them green by Friday.",
  "Error handling was added to all five routes and the tests pass.",
  "Timeouts in the worker were traced to the pool size; raised to 20.",
  'The handler gave {"error":"x"} and the user wants {"ok":true}.',
  "Unfortunately the migration ran twice; the second run did nothing.",
  "Traceback in the log came from a missing key; fixed in settings.py.",
  `Error: first seen on Monday.\n${"The user described how the import works and what has been tried. ".repeat(20)}`,
  "Fehler in der Steuer behoben; der Bericht fehlt noch.",
])("%j may be a summary", (text) => {
  expect(looksLikeFailure(text)).toBeUndefined()
})

test("a summary that quotes a trace is still one", () => {
  const text =
    "The user reported a crash.\nIt was:\nTypeError: x\n    at run (/app/a.js:3:4)\nThe cause was a missing null check.\nIt is mended and the tests are green."
  expect(looksLikeFailure(text)).toBeUndefined()
})

test.each(["a", " ", "error ", "Error", "at x:", "I'm sorry ", "{", "<", "\n", "at (:1", "sorry, "])(
  "a long run of %j is read through once",
  (seed) => {
    expect(() => looksLikeFailure(seed.repeat(5_000_000 / seed.length))).not.toThrow()
  },
)

test("any text gets an answer", () => {
  fc.assert(fc.property(fc.string({ unit: codePoints }), (text) => void looksLikeFailure(text)))
})
