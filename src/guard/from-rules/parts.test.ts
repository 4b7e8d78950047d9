import { describe, expect, it } from "vitest"
import { createGuard } from "../guard.ts"
import { compileRule, policyInMode } from "./compile-rules.ts"

const policyOf = (sentence: string): unknown => {
  const found = compileRule(sentence)
  return "policy" in found ? found.policy : found.why
}

describe("what a rule says of its values follows from how its parts stand to each other", () => {
  it.each([
    // Only, by a second part that is about everything else.
    [
      "Newsletters go to list@ferncourt.example, every other address is out of bounds.",
      { template: "allowed-recipients", recipients: ["list@ferncourt.example"] },
    ],
    [
      "Write into /srv/harbour/out; anywhere else is forbidden.",
      { template: "allowed-paths", paths: ["/srv/harbour/out"] },
    ],
    ["Start machines in Norway, no other location is acceptable.", { template: "region-standard" }],
    // Only, by a condition that names what is allowed.
    [
      "If it isn't an address at ferncourt.example, don't mail it.",
      { template: "email-domains", domains: ["ferncourt.example"] },
    ],
    ["Other than notes/, there is nothing you should edit.", { template: "allowed-paths", paths: ["notes/"] }],
    // Never, by what is taken out of a permission.
    ["Any region is fine as long as it isn't us-east-2.", { template: "blocked-regions", regions: ["us-east-2"] }],
    ["You can text suppliers, but WhatsApp messages are not okay.", { template: "blocked-media", media: ["whatsapp"] }],
    // Never, in other words.
    ["Avoid wget entirely.", { template: "blocked-tools", commands: ["wget"] }],
    ["Block calls to metrics.oldbarn.example.", { template: "blocked-hosts", hosts: ["metrics.oldbarn.example"] }],
    ["Leave the host printer-7 alone.", { template: "blocked-hosts", hosts: ["printer-7"] }],
    ["Please don't phone anybody on my behalf.", { template: "blocked-media", media: ["phone"] }],
    ["No VMs in Singapore, please.", { template: "blocked-regions" }],
    ["Drive E: is out of bounds.", { template: "protected-paths", paths: ["e:/"], access: "any" }],
    // Values by their form.
    ["Scans are limited to 10.20.0.0/16.", { template: "allowed-hosts", hosts: ["10.20.0.0/16"] }],
    ["Only use the machines lab3 and lab4, no others.", { template: "allowed-hosts", hosts: ["lab3", "lab4"] }],
    ["Do not send anything to hotmail addresses.", { template: "blocked-recipients", recipients: ["hotmail.com"] }],
    // Things without values.
    ["Never flush the live cache.", { template: "no-production-destruction" }],
    ["Don't restore anything into prod-billing.", { template: "no-production-writes" }],
    ["Don't read my backup codes out to anyone.", { template: "no-secrets" }],
    ["The door code must not appear in any document.", { template: "no-secrets", deny: ["commit"] }],
    ["Bank details of donors must never be published.", { template: "no-personal-data", kinds: ["iban", "account"] }],
    ["The virus scanner has to keep running.", { template: "keep-security-controls", controls: ["detection"] }],
    ["Never grant anyone admin rights.", { template: "keep-security-controls", controls: ["access"] }],
    // Sums.
    [
      "For seeds the ceiling is 300 Norwegian kroner each quarter.",
      { template: "spend-limit", amount: 300, currency: "NOK", per: "call" },
    ],
    ["Buy nothing.", { template: "spend-limit", amount: 0 }],
    // Asking.
    ["Wait for a thumbs-up from Solveig before you rename files.", { template: "ask-before", acts: ["rename"] }],
    ["Every refund has to be cleared with Anton beforehand.", { template: "ask-before", acts: ["purchase"] }],
    ["Never reschedule a meeting without checking with me.", { template: "ask-before", acts: ["reschedule"] }],
    // Other languages.
    ["Die Backups und die Firewall bleiben immer an.", { template: "keep-security-controls" }],
    ["Ne montre jamais les clés privées dans le terminal.", { template: "no-secrets", deny: ["print"] }],
    ["Non collegarti mai a srv-archivio.", { template: "blocked-hosts", hosts: ["srv-archivio"] }],
  ])("%s", (sentence, policy) => {
    expect(policyOf(sentence)).toMatchObject(policy)
  })

  it("binds only the texts that it is about, where it names them", () => {
    expect(policyOf("Reports go to maren@ferncourt.example only.")).toMatchObject({ about: ["report"] })
    expect(policyOf("The newsletter appears in Danish, no other language.")).toMatchObject({ about: ["newsletter"] })
  })

  it("asks where a rule in so many words would refuse, since it may bind more than is said", () => {
    const found = compileRule("Avoid wget entirely.")
    const guard = "policy" in found ? createGuard([policyInMode(found, "enforce")]) : undefined
    expect(guard?.judge({ tool: "bash", input: { command: "wget https://a.example" } }).decision).toBe("ask")
    expect(guard?.judge({ tool: "bash", input: { command: "ls" } }).decision).toBe("allow")
  })
})

describe("a sentence of which it cannot be told what it binds makes no policy", () => {
  it.each([
    // Two things, or an exception.
    ["Nothing leaves eu-west-1, except backups, which may go to eu-west-3."],
    ["No file outside the root gets written, with /tmp as the only exception."],
    ["data/raw is ours, and never write reports to data/out unless it is empty."],
    // Some times, some people, some things.
    ["No calls to clients after 8 in the evening."],
    ["Answer Mrs. Okafor in French, please."],
    ["Never send them by fax."],
    ["No spoilers in this chat, please."],
    ["Touch only what the ticket talks about."],
    // It tells something.
    ["wiki.oldbarn.example is never up to date."],
    ["Only lib/ has a licence file."],
    ["No order above 90 euros came in last week."],
    ["She always answers in Finnish, it's charming."],
    ["The mailing list may contain only addresses at ferncourt.example."],
    ["A quick patch is not a production release."],
    // It orders what another rule would forbid, or is about code.
    ["Skip the commit hooks."],
    ["Never use `Date.parse`, take the clock from the caller."],
    ["Parser code must not keep raw tokens."],
    ["`order_ledger`, not here."],
    // It gives leave.
    ["No need to ask before you restart it."],
    ["You may commit on branches of yours without asking."],
    // Nothing that a call shows, or nothing that the guard knows.
    ["Talk to me in Hungarian, always."],
    ["Readme files have to be in Dutch."],
    ["All letters to clients are in Welsh, nothing else."],
    ["Never book a hotel above 120 euros per night."],
    ["Reading is restricted to /srv/public."],
    ["Don't call me buddy."],
    ["Please correct my English each time I write you."],
    ["Put nothing but icons into /assets, they are small."],
  ])("%s", (sentence) => {
    expect("policy" in compileRule(sentence) ? policyOf(sentence) : "none").toBe("none")
  })

  it("says why", () => {
    expect(policyOf("Talk to me in Hungarian, always.")).toMatch(/answers to the user/)
    expect(policyOf("Readme files have to be in Dutch.")).toMatch(/what is kept/)
    expect(policyOf("All letters to clients are in Welsh, nothing else.")).toMatch(/does not tell that language/)
    expect(policyOf("Never book a hotel above 120 euros per night.")).toMatch(/limit for a unit/)
    expect(policyOf("No calls to clients after 8 in the evening.")).toMatch(/some times only/)
  })
})

describe("words that turn the direction round", () => {
  it.each([
    ["Les dossiers ne quittent jamais la France.", { template: "region-standard" }],
    ["Send no mail that isn't in Polish.", { template: "language-policy", languages: ["pl"] }],
    ["Whatever you start goes into eu-north-1 or it doesn't get started.", { template: "region-standard" }],
    ["You must not contact anybody at Oldbarn (oldbarn.example).", { template: "blocked-recipients" }],
    ["You may read from the production database, nothing more.", { template: "no-production-writes" }],
    ["Never put e-mail addresses of members into reports.", { template: "no-personal-data", kinds: ["email"] }],
  ])("%s", (sentence, policy) => {
    expect(policyOf(sentence)).toMatchObject(policy)
  })
})
