import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { callWithin } from "./call-text.ts"

const reserve =
  "mcp__claims__update_reserve(claim_id=SH-104417, amount=11900, currency=EUR, reason=Invoice of the drier, kitchen front and the paint, expected_version=3)"

test("a call in fewer characters keeps what it is about and its figures, and gives up sentences and the server first", () => {
  expect(callWithin(reserve, 140)).toContain("amount=11900, currency=EUR")
  expect(callWithin(reserve, 80)).toBe("update_reserve(claim_id=SH-104417, amount=11900, currency=EUR, …)")
  expect(callWithin(reserve, 56)).toBe("update_reserve(claim_id=SH-104417, amount=11900, …)")
  expect(callWithin(reserve, 20)).toBeUndefined()
  const fetch = "http(method=GET, url=https://boats.example/api/v1/trips/88041, headers={authorization=Bearer <one>})"
  expect(callWithin(fetch, 52)).toBe("http(method=GET, url=…/api/v1/trips/88041, …)")
})

test("a comma in a sentence begins no argument, and a checksum is told by its beginning", () => {
  const call = `block(action=add, sha256=${"20cddc19af371d4d".repeat(4)}, reason=the loader, which came with the mail of last night)`
  expect(callWithin(call, 70)).toBe("block(action=add, sha256=20cddc19…, reason=the loader, which…)")
})

test("a path or a long name is no checksum", () => {
  const call =
    "publish(path=/srv/data/2026/reports/quarterly/final_version, name=gpu_a100_training_pool_reservation_7, note=for the board meeting on Monday morning)"
  expect(callWithin(call, 120)).toContain(
    "path=/srv/data/2026/reports/quarterly/final_version, name=gpu_a100_training_pool_reservation_7",
  )
})

test("of a list the first members stay", () => {
  const call = "book(user=mia_3668, flights=[HAT136 2026-05-20, HAT039 2026-05-20], cabin=economy)"
  expect(callWithin(call, 60)).toBe("book(user=mia_3668, flights=[HAT136 2026-05-20, HAT039…, …)")
})

test("a list gives way in part before it does for the gap behind it", () => {
  const call =
    "update_reservation_flights(reservation_id=XEHM4B, cabin=economy, flights=[HAT005 2024-05-20, HAT178 2024-05-30], payment_id=credit_card_2408938)"
  expect(callWithin(call, 90)).toBe(
    "update_reservation_flights(reservation_id=XEHM4B, …, flights=[HAT005 2024-05-20…, …)",
  )
})

test("a command line is no call", () => {
  expect(callWithin("git commit -m 'a (b=c)'", 20)).toBeUndefined()
})

test("a call in fewer characters takes no more of them, however many arguments are left out between", () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{2,9}$/), { minLength: 1, maxLength: 9 })
  const value = fc.oneof(
    fc.stringMatching(/^[a-z]{1,12}-?\d{0,5}$/),
    fc.stringMatching(/^[A-Z][a-z]{2,9}( [a-z]{2,9}){1,6}$/),
  )
  fc.assert(
    fc.property(
      names,
      fc.array(value, { minLength: 9, maxLength: 9 }),
      fc.integer({ min: 12, max: 200 }),
      (keys, all, length) => {
        const call = `make_order(${keys.map((key, n) => `${key}=${all[n]}`).join(", ")})`
        expect(callWithin(call, length)?.length ?? 0).toBeLessThanOrEqual(length)
      },
    ),
  )
})
