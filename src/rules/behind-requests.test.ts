import { expect, test } from "vitest"
import { findRules } from "./find-rules.ts"

/** What the user asks for, and a rule of his own in a paragraph behind it. */
const own: readonly (readonly [asked: string, rule: string, lead?: string])[] = [
  ["Can you check why the build is red?", "Always use pnpm here."],
  [
    "The export fails for Anna since yesterday. Could you look at what the log says?",
    "Never restart the server without asking me.",
  ],
  ["I rewrote the intro, what do you think of it?", "From now on always write dates as 2026-11-19."],
  ["What was in that report about the pumps?", "Never send reports to external people."],
  [
    "hey, the tests are slow. we had it in march too, is it the same cause?",
    "never run the e2e suite without asking me",
    "also: ",
  ],
  ["Please summarise what happened with the deploy.", "Always write summaries in German."],
  ["Look at the page and tell me what it says about refunds.", "Never promise a refund to a customer."],
  ["Please fix the login page.", "Always use pnpm here."],
  ["why does the importer skip row 14?", "please never touch files in legacy/, they are generated"],
  [
    "Can you book the room for Thursday? Marit said the small one is free.",
    "Always leave ten minutes between two meetings.",
    "And ",
  ],
  ["Did the supplier answer the mail I sent on Friday?", "Don't ever share our prices with them."],
  ["Draft the invitation for the autumn party.", "Never use exclamation marks in anything you write for me."],
  ["Which of the two quotes is cheaper over three years?", "Round all amounts to full euros from now on."],
  ["could u have a look at the flaky spec, what does it complain about", "btw: commit messages always in English pls"],
  [
    "The second chapter drags a bit. Any idea where I could cut?",
    "Keep British spelling throughout, also in later chapters.",
  ],
  ["How many people signed up so far?", "Never put names of participants into the public sheet."],
  ["Warum ist der Build seit gestern rot?", "Nimm in diesem Projekt immer pnpm."],
  ["Kannst du nachsehen, was im Protokoll zum Server steht?", "Starte den Server nie ohne meine Zustimmung neu."],
  [
    "Ich habe die Einleitung umgeschrieben, was hältst du davon?",
    "Schreib Datumsangaben ab jetzt immer als 2026-11-19.",
  ],
  ["Was stand in dem Bericht über die Pumpen?", "Schick Berichte nie an Leute außerhalb der Firma."],
  [
    "Fass bitte zusammen, was beim Umzug schiefgegangen ist.",
    "Antworte mir grundsätzlich in höchstens fünf Sätzen.",
    "Außerdem: ",
  ],
  [
    "kannst du den Termin mit Frau Lorenz verschieben? freitag passt mir nicht",
    "leg mir bitte nie was vor neun uhr in den kalender",
  ],
  [
    "Prüf mal die Rechnung vom Maler, kommt dir die Summe komisch vor?",
    "Überweise nichts, bevor ich es freigegeben habe.",
  ],
  ["Pourquoi le test de connexion échoue ?", "Ne modifie jamais les fichiers du dossier config."],
  ["J'ai relu le chapitre deux, qu'en penses-tu ?", "Utilise toujours des guillemets français dans mes textes."],
  ["Peux-tu regarder ce que dit le journal du serveur ?", "Désormais, réponds-moi toujours en français."],
  [
    "Résume ce qui s'est passé avec la livraison.",
    "N'envoie jamais de message à un client sans mon accord.",
    "Et aussi : ",
  ],
  ["Tu peux vérifier combien il reste sur le budget ?", "Arrondis toujours les montants à l'euro."],
  ["¿Por qué falla la exportación desde ayer?", "No reinicies nunca el servidor sin preguntarme."],
  ["He cambiado la introducción, ¿qué te parece?", "A partir de ahora escribe siempre las fechas como 2026-11-19."],
  ["¿Qué decía el informe sobre las bombas?", "Nunca envíes informes a gente de fuera."],
  ["Mira por favor si hay sitio el jueves.", "No pongas reuniones antes de las diez.", "Y otra cosa: "],
  ["Perché il build è rotto da ieri?", "Usa sempre pnpm in questo progetto."],
  ["Ho riscritto l'introduzione, cosa ne pensi?", "D'ora in poi scrivi sempre le date come 2026-11-19."],
  ["Puoi controllare cosa dice il log?", "Non riavviare mai il server senza chiedermelo."],
  ["Riassumi cosa è successo con la consegna.", "Non promettere mai rimborsi ai clienti."],
  ["Waarom faalt de test sinds gisteren?", "Gebruik in dit project altijd pnpm."],
  ["Kun je kijken wat er in het logboek staat?", "Herstart de server nooit zonder het mij te vragen."],
  ["Wat stond er in dat rapport over de pompen?", "Stuur rapporten nooit naar mensen buiten het bedrijf.", "En ook: "],
  ["Vat even samen wat er met de levering gebeurd is.", "Schrijf samenvattingen voortaan altijd in het Nederlands."],
]

/** A request, and behind it what was pasted to be worked on. */
const pasted: readonly (readonly [asked: string, text: string])[] = [
  [
    "Can you explain what this sign in the lab means?",
    "Personnel must never enter the airlock without a badge. Violations are reported to the safety office.",
  ],
  [
    "What does my landlord want from me?",
    "Tenants must always keep the stairwell clear of bicycles and prams. The management reserves the right to remove items.",
  ],
  [
    "Is this normal in a contract?",
    "The contractor shall never disclose the terms of this agreement to third parties.",
  ],
  ["Translate into German please", "Always store the device in a dry place. Never expose it to direct sunlight."],
  [
    "Could you summarise the notice from the gym?",
    "Members must always wipe the equipment after use. Lockers must never be occupied overnight.",
  ],
  [
    "What do you think of it? It is from the other team's wiki.",
    "All services must use gRPC. Never call another team's database directly.",
  ],
  [
    "Please proofread",
    "Employees must always lock their screens when leaving the desk. Visitors must never be left alone.",
  ],
  [
    "thoughts on the ticket?",
    "As an admin I want exports to always contain the tenant id so that audits never fail. Exports must not run at night.",
  ],
  [
    "Shorten the leaflet text.",
    "Never take more than two tablets a day. Always consult your doctor before combining this product with other medicines.",
  ],
  [
    "Can you answer the mail from the tax adviser?",
    "Dear Mr Holt, please always send the receipts as one PDF by the fifth. Never send single photos. Kind regards, P. Ward",
  ],
  [
    "What did the vendor reply?",
    "Hi all, we must ask you to never open more than five tickets per day. Please always attach logs. Best, Dana from Support",
  ],
  [
    "I found it in their readme, does it apply to us?",
    "Contributors must always sign their commits. Never force-push to main.",
  ],
  [
    "My aunt sent me the recipe, how long does it rest?",
    "Always sift the flour twice. Never open the oven in the first twenty minutes. Leave the dough for an hour.",
  ],
  [
    "Which of the points in the house rules is about noise?",
    "1. Quiet hours must always be kept from 22:00.\n2. Never leave rubbish in the hall.\n3. Bikes belong in the cellar.",
  ],
  [
    "Is the review comment fair?",
    "@kai nit: always use early returns here, never nest more than two levels. Also please rename the helper.",
  ],
  [
    "What is the log telling us?",
    "2026-11-02 04:12:09 WARN pool exhausted, always close connections\n2026-11-02 04:12:10 ERROR never retry on 409",
  ],
  [
    "Was bedeutet der Aushang im Treppenhaus?",
    "Die Haustür ist ab 20 Uhr stets geschlossen zu halten. Fahrräder dürfen niemals im Flur abgestellt werden.",
  ],
  [
    "Ist das in einem Mietvertrag üblich?",
    "Der Mieter darf niemals ohne schriftliche Zustimmung des Vermieters untervermieten.",
  ],
  [
    "Kannst du mir den Brief von der Schule erklären?",
    "Liebe Eltern, bitte geben Sie Ihrem Kind immer ein gesundes Frühstück mit. Süßigkeiten sind grundsätzlich nicht erlaubt. Herzliche Grüße, S. Blum",
  ],
  [
    "Was will der Verein von uns?",
    "Mitglieder haben ihre Beiträge stets bis zum 5. des Monats zu zahlen. Rückstände werden nie erlassen.",
  ],
  ["Übersetz das ins Englische.", "Bewahren Sie das Gerät immer trocken auf. Setzen Sie es nie direkter Sonne aus."],
  [
    "Stimmt das, was die Kollegin geschrieben hat?",
    "Hallo zusammen, ab sofort bitte nie mehr direkt auf main pushen und immer zwei Reviewer eintragen. LG Heike",
  ],
  [
    "Fass den Beipackzettel zusammen.",
    "Nehmen Sie nie mehr als zwei Tabletten täglich ein. Fragen Sie vor der Einnahme immer Ihren Arzt.",
  ],
  [
    "Que veut dire cette clause ?",
    "Le locataire ne peut jamais sous-louer le logement sans l'accord écrit du bailleur.",
  ],
  [
    "Qu'est-ce que la crèche nous demande ?",
    "Chers parents, merci de toujours apporter un change complet. Les jouets de la maison ne sont jamais acceptés. La direction",
  ],
  ["Traduis en anglais", "Conservez toujours l'appareil au sec. Ne l'exposez jamais au soleil."],
  [
    "Peux-tu résumer le règlement de la piscine ?",
    "Les usagers doivent toujours se doucher avant le bain. Il est interdit de courir au bord du bassin.",
  ],
  [
    "C'est correct, ce passage du contrat ?",
    "Le prestataire ne communiquera jamais les données du client à des tiers et les effacera toujours à la fin du contrat.",
  ],
  [
    "¿Qué significa el cartel de la piscina?",
    "Los usuarios deberán ducharse siempre antes del baño. Nunca se permite la entrada con calzado de calle.",
  ],
  [
    "¿Es normal esta cláusula?",
    "El arrendatario no podrá nunca subarrendar la vivienda sin autorización por escrito del arrendador.",
  ],
  [
    "Resume el correo de la gestoría",
    "Estimado cliente: envíe siempre las facturas antes del día 5. Nunca mande fotos sueltas. Un saludo, Gestoría Pardo",
  ],
  ["Traduce al inglés por favor", "Guarde siempre el aparato en un lugar seco. No lo exponga nunca al sol."],
  [
    "Cosa vuole l'amministratore?",
    "I condomini devono sempre tenere chiuso il portone dopo le 20. È vietato lasciare biciclette nell'androne.",
  ],
  [
    "È normale questa clausola?",
    "Il conduttore non può mai sublocare l'immobile senza il consenso scritto del locatore.",
  ],
  ["Traduci in inglese", "Conservare sempre l'apparecchio all'asciutto. Non esporlo mai al sole."],
  [
    "Mi riassumi la circolare della scuola?",
    "Gentili genitori, gli alunni devono sempre portare il diario firmato. I telefoni non sono mai ammessi in classe. Il dirigente",
  ],
  [
    "Wat wil de huisbaas?",
    "Huurders dienen de voordeur na 20 uur altijd gesloten te houden. Fietsen mogen nooit in de hal staan.",
  ],
  [
    "Is deze bepaling normaal?",
    "De huurder mag de woning nooit zonder schriftelijke toestemming van de verhuurder onderverhuren.",
  ],
  ["Vertaal naar het Engels", "Bewaar het apparaat altijd droog. Stel het nooit bloot aan direct zonlicht."],
  [
    "Kun je de brief van school samenvatten?",
    "Beste ouders, geef uw kind altijd een gezonde lunch mee. Snoep is nooit toegestaan. Met vriendelijke groet, de directie",
  ],
]

const messageOf = (asked: string, behind: string): string => `${asked}\n\n${behind}`
const rulesIn = (text: string): readonly string[] => findRules(text, { channel: "user" }).map((rule) => rule.text)

const missed = own.filter(
  ([asked, rule, lead = ""]) =>
    !rulesIn(messageOf(asked, lead + rule)).some((found) => found.includes(rule.slice(0, -2)) || rule.includes(found)),
)
const taken = pasted.filter(([asked, text]) => rulesIn(messageOf(asked, text)).length > 0)

test("rules of the user's own in a paragraph behind a request or a question are found", () => {
  expect(missed.length, JSON.stringify(missed)).toBeLessThanOrEqual(0.15 * own.length)
})

test("what is pasted behind a request or a question is not taken for the user's rule", () => {
  expect(taken.length, JSON.stringify(taken)).toBeLessThanOrEqual(0.05 * pasted.length)
})
