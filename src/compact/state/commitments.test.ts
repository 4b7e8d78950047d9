import { expect, test } from "vitest"
import { type Turn, text, transcript, used } from "../../../test/support/transcripts.ts"
import { notesOf } from "./notes.ts"

const user = (said: string): Turn => ["user", text(said)]
const assistant = (said: string): Turn => ["assistant", text(said)]

const promised = (...turns: readonly Turn[]): readonly string[] =>
  notesOf(transcript(user("See to my order."), ...turns)).flatMap(({ kind, text: line }) =>
    kind === "commitment" ? [line] : [],
  )

test.each([
  "The parcel is locked. I will try again after 14:00 and write to you then.",
  "As soon as the photo is there, I credit the sum to your account.",
  "I'll come back to the flaky test once the migration is through.",
  "The second half of the report is left for later, when the figures are in.",
  "Ich melde mich, sobald die Werkstatt geantwortet hat.",
  "Je vous écris dès que le remboursement est passé.",
  "En cuanto llegue el informe, lo enviaré a la oficina.",
  "Assim que o pagamento entrar, vou enviar o recibo.",
  "Zodra de levering binnen is, stuur ik u een bericht.",
  "写真が届き次第、返金の手続きをいたします。",
])("what is put off is told: %s", (said) => {
  expect(promised(assistant(said), user("Good. And the other matter?")).join()).toContain("Promised: ")
})

test.each([
  "LH kann ich kostenlos bis morgen 18:00 halten, dann muss ich kaufen.",
  "I can hold the seat until tomorrow at 18:00 and write to you then.",
  "Once you confirm, I will book it.",
  "Once I have this information, I will look for a room.",
  "Shall I send it tomorrow?",
  "I cannot add insurance after the booking was made.",
  "I ran the tests after the change, and all of them pass.",
  "Let me look at the log now.",
])("an offer, a report and the next step are none: %s", (said) => {
  expect(promised(assistant(said), user("Good. And the other matter?"))).toEqual([])
})

test("what is about something that the assistant named since was taken up", () => {
  const said = assistant("I will check order K-4711 again tomorrow and tell you.")
  expect(promised(said, user("Fine."))).toHaveLength(1)
  expect(promised(said, user("Fine."), ...used("get_order", { id: "K-4711" }, "shipped"), user("Thanks"))).toEqual([])
})

test("a promise that names nothing is told with the sentence before it", () => {
  const [line] = promised(assistant("The store room is locked today. I will try again after lunch."), user("Fine."))
  expect(line).toBe("Promised: The store room is locked today. I will try again after lunch.")
})

test("a promise to pay is kept by the call that pays the sum", () => {
  const turns = [
    assistant("As soon as the account is verified I pay the EUR 526.95 and write to you here."),
    user("Good."),
  ]
  expect(promised(...turns).join()).toContain("526.95")
  const paid = used("approve_payment", { claim_no: "C-1", amount: 526.95 }, '{"payment_id":"PAY-61044"}')
  expect(promised(...turns, ...paid, assistant("It is out."), user("Thanks. And the van?"))).toEqual([])
})
