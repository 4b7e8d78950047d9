import { lazy, lazyPattern } from "../../language/lazy.ts"
import { foreignForms, foreignPhrases } from "./foreign-forms.ts"
import { japaneseInEnglish } from "./japanese.ts"
import { plainSpeech } from "./plain-speech.ts"

/**
 * The words of a rule in the form in which it is read: small letters, plain quotation marks, whole words for those of a chat, and words of
 * other languages as their English ones where a rule may turn on them.
 */
export const wordsOfRule = (text: string): string => wordsIn(text, glossary())

/** The same by larger tables of other languages, which a first reading does without. */
export const moreWordsOfRule = (text: string): string => wordsIn(text, largeGlossary())

function wordsIn(text: string, words: Glossary): string {
  const plain = text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’‘´]/g, "'")
    .replace(/["“”„«»`「」『』]|\*{2,}|(?<=^|\s)\*(?=\p{L})|(?<=\p{L})\*(?=\s|$)/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
  return plainSpeech(inEnglish(spelledOut(plain).replace(namedFolder, "$1/"), words))
}

/** "La carpeta de originales", "der Ordner alt": a folder by its name, as one writes it elsewhere. */
const namedFolder =
  /(?<![\p{L}\p{N}./_-])(?:ordner|verzeichnis|dossier|carpeta|pasta|cartella)(?: d[aeiou]l?s?)? (?!(?:d[aeiou]l?s?|des|ist|und|oder|et|ou|est|es|é|com|con|mit|avec|que|para|pour|médical|personne\p{L}*)(?![\p{L}]))([a-z](?:[\w.-]{0,29}\w)?)(?![\p{L}\w/-]|\.\w)/gu

/** What people leave out when they type. */
const typed: ReadonlyMap<string, string> = new Map(
  Object.entries({
    dont: "don't",
    doesnt: "doesn't",
    didnt: "didn't",
    isnt: "isn't",
    arent: "aren't",
    cant: "can't",
    wont: "won't",
    mustnt: "mustn't",
    shouldnt: "shouldn't",
    u: "you",
    ur: "your",
    ya: "you",
    youre: "you're",
    ive: "i've",
    pls: "please",
    plz: "please",
    plse: "please",
    thx: "thanks",
    btw: "by the way",
    "w/": "with",
    "w/o": "without",
    b4: "before",
    thru: "through",
    msg: "message",
    msgs: "messages",
    ppl: "people",
    sth: "something",
    smth: "something",
    anyones: "anyone's",
    approx: "about",
    govt: "government",
    mgmt: "management",
    acct: "account",
    accts: "accounts",
    pw: "password",
    pws: "passwords",
    pwd: "password",
    pwds: "passwords",
    creds: "credentials",
    repo: "repository",
    repos: "repositories",
    okey: "okay",
    adress: "address",
    adresses: "addresses",
    "&": "and",
  }),
)

/** A word that is none of a value's: no part of an address, a path or an option. */
const [before, behind] = ["(?<![\\p{L}\\p{N}@./_*#'-])", "(?![\\p{L}\\p{N}@/_*-]|\\.[\\p{L}\\p{N}]|'\\p{L})"]

const typedWord = lazy(
  () =>
    new RegExp(
      `${before}(?:${[...typed.keys()].sort((one, other) => other.length - one.length).join("|")})(?=[\\s,.;:!?)]|$)`,
      "gu",
    ),
)

const spelledOut = (text: string): string => text.replace(typedWord(), (word) => typed.get(word) ?? word)

/**
 * English words by their forms in German, French, Spanish, Portuguese, Italian and Dutch. None of the forms is an English word. What is
 * said with several words comes first.
 */
const forms: readonly (readonly [english: string, forms: string])[] = [
  [
    "the app",
    "l'appli(?:cation)?|die (?:app|anwendung)|la (?:aplicación|app)|o (?:aplicativo|app|sistema|site)|das system|le système|el sistema",
  ],
  ["hands off", "finger weg von|finger weg vom|hände weg von|hände weg vom|bas les pattes de|manos fuera de"],
  [
    "audit logs",
    "audit-?(?:protokolle?|logs)|(?:logs|journaux|registros?|journal|journalisation) (?:d'|de |di )(?:audit|auditorías?|auditorias?)",
  ],
  ["two-factor authentication", "(?:zwei-faktor-|2-faktor-)\\p{L}+|autenticación (?:de|en) dos (?:factores|pasos)"],
  ["passwords", "mots? de passe|contraseñas?|senhas?|passwörter|passwort|kennwörter|kennwort|wachtwoord(?:en)?"],
  ["api keys", "clés? (?:d'api|api)|claves? (?:de )?api|chaves? (?:de |da )?api|api-schlüssel"],
  [
    "personal data",
    "données? (?:personnelles?|à caractère personnel)|datos personales|dados pessoais|dati personali|persoonsgegevens|personenbezogene\\p{L}* (?:daten|informationen)|persönliche\\p{L}* daten",
  ],
  [
    "health data",
    "gesundheitsdaten|patientendaten|données (?:de santé|médicales)|datos (?:de salud|médicos)|dados (?:de saúde|médicos)|dati sanitari",
  ],
  [
    "phone numbers",
    "telefonnummern?|handynummern?|números? de (?:teléfono|telefone)|numéros? de téléphone|numeri? di telefono",
  ],
  ["network access", "accès (?:au )?réseau|acceso a (?:la )?red|acesso à rede|netzwerkzugriff|internetzugriff"],
  ["without my approval", "ohne (?:meine|mein) \\p{L}+|sans mon \\p{L}+|sin mi \\p{L}+|sem (?:a )?minha \\p{L}+"],
  [
    "other than",
    "distint[oa]s? del?|diferentes? d[eo]l?|(?:andere[nrsm]?|anders) als|autres? que|além d[eoa]s?|aparte de|a parte|que no sean?|que não sejam?",
  ],
  ["outside", "außerhalb(?: von)?|ausserhalb(?: von)?|en dehors d[eu]|hors d[eu]|fuera de|fora d[eoa]s?|buiten"],
  ["nowhere else", "nirgend(?:wo|s) sonst|nulle part ailleurs|en ningún otro (?:sitio|lugar)|em nenhum outro lugar"],
  ["nobody else", "niemand(?:em|en)? sonst|sonst niemand(?:em|en)?|personne d'autre|nadie más|mais ninguém"],
  ["nothing else", "nichts anderes|sonst nichts|rien d'autre|nada más|nada mais"],
  ["more than", "mehr als|plus de|más de|mais (?:de|do que)|più di|meer dan"],
  ["at most", "höchstens|maximal|au maximum|au plus|como máximo|no máximo|al massimo|hooguit"],
  ["in total", "insgesamt|au total|en total|no total|em total|in totale"],
  ["per order", "pro (?:bestellung|kauf|einkauf)|par (?:commande|achat)|por (?:compra|pedido|orden)|por encomenda"],
  [
    "ask me",
    "demande(?:z)?-moi|pregúntame|consúltame|avísame|pergunte-me|frag(?:e|t|st)? (?:du )?mich|chiedimi|vraag (?:het )?me",
  ],
  ["ask", "fragen|nachfragen|demander|demande|preguntar|pregunta|pergunte|perguntar|chiedi|vraag"],
  ["before", "bevor|avant(?: (?:de|d'|que))?|antes (?:de|que)|antes|prima di|voordat"],
  ["production", "produktion|produktivumgebung|produktionsumgebung|producción|produção|produzione|productie"],
  [
    "production database",
    "produktions(?:datenbank|db)|base de (?:données de )?production|base de (?:datos de )?producción",
  ],
  ["firewall", "cortafuegos|pare-feu|brandmauer"],
  ["encryption", "verschlüsselung|chiffrement|cifrado|criptografia|encriptación"],
  ["monitoring", "überwachung|monitorización|monitoramento"],
  ["internet", "l'internet"],
  ["network", "netzwerk|réseau"],
  ["repository", "repositorio|repositório|dépôt"],
  ["files", "dateien|datei|fichiers?|archivos?|arquivos?|ficheiros?|bestanden"],
  ["table", "tabellen?|tablas?|tabelas?"],
  ["data", "daten|données|datos|dados"],
  [
    "certificate verification",
    "verificação de certificados?|verificación de certificados?|vérification des certificats?|zertifikatsprüfung",
  ],
  [
    "in this repository",
    "en este (?:repositorio|proyecto)|neste (?:repositório|projeto)|in diesem (?:projekt|repo\\p{L}*)|dans ce (?:projet|dépôt)",
  ],
  ["members", "mitgliedern?|miembros|membros|membres"],
  ["employees", "mitarbeitern?|mitarbeitende[nr]?|angestellten?|empleados|employés|funcionários"],
  ["transfers", "überweisung(?:en)?|virements?|transferencias?|transferências?"],
  ["customers", "kunden|kundinnen|kundschaft|clientes|klanten|clienti"],
  ["messages", "nachrichten?|mensajes?|mensagens|mensagem|messaggi|berichten"],
  ["emails", "courriels?|correos?(?: electrónicos?)?"],
  ["recipients", "empfänger|destinataires?|destinatarios?|destinatários?"],
  ["addresses", "adressen|direcciones|endereços|indirizzi"],
  ["packages", "pakete|paquets?|paquetes?|pacotes?|pacchetti"],
  ["secrets", "geheimnisse|secretos|segredos"],
  ["credentials", "zugangsdaten|anmeldedaten|identifiants|credenciales|credenciais"],
  ["commands", "befehle?|comandos?"],
  ["region", "région|región|região"],
  ["don't them", "ne (?:les|le|la)(?= \\p{L}+ez?s? (?:jamais|pas|plus))"],
  ["don't", "ne|não|non(?= \\p{L}+(?:are|ere|ire|arti|erti|irti) )"],
  ["never", "nie|niemals|jamais|nunca|jamás|mai|nooit|auf keinen fall|unter keinen umständen|en aucun cas"],
  ["not", "nicht|pas|niet"],
  ["nothing that", "nichts,? was"],
  ["costs", "kostet|kosten|coûte|cuesta|custa"],
  ["connections", "verbindung(?:en)?|connexions?|conexiones|conexões"],
  ["resources", "ressourcen|ressources|recursos|risorse"],
  ["customer mails", "kundenmails|kundentexte"],
  ["enabled", "aktiviert|eingeschaltet|activée?s?|activad[oa]s?|ativad[oa]s?|attiv[oia]"],
  ["leave", "lass|lasse|laisse[rz]?|deja|dejes|deixe|lascia"],
  ["create", "erstelle|erstellen|anlegen|crée[rz]?|crea|crear|crees|crie|criar"],
  ["before every", "vor jede[mrn]|avant chaque|antes de cada"],
  ["nothing", "nichts|rien|nada|niente|nulla|niets"],
  ["no", "keine[mnrs]?|kein|aucune?|ningún|ninguna?|nenhuma?|geen"],
  ["purchases", "compras|achats?|käufe|einkäufe|acquisti"],
  [
    "social security number",
    "números? de (?:la )?seguridad social|numéros? de sécurité sociale|sozialversicherungsnummern?",
  ],
  ["remain", "permanecer|permanece|permaneça"],
  ["above", "superior(?:es)? a|supérieure?s? à|au-dessus de|por encima de|acima de"],
  ["exceed", "überschreite\\p{L}*|überschritten|dépasse[rz]?|superes?|superar|ultrapassar|ultrapasse"],
  ["requests", "requisições|requêtes?|peticiones|anfragen"],
  ["make", "realices|realiza|realizar|efectúes|faça|faças|fais|faites|hagas|mach"],
  ["communicate", "kommunizier\\p{L}*|communique[rz]?|comunica(?:r|te)?|comunique"],
  ["only", "só|nur|uniquement|seulement|solamente|únicamente|sólo|apenas|somente|alleen|lediglich"],
  ["exclusively", "ausschließlich|ausschliesslich|exclusivement|exclusivamente|uitsluitend"],
  ["always", "immer|toujours|siempre|sempre|stets|altijd"],
  ["please", "bitte|s'il te plaît|s'il vous plaît|por favor"],
  ["forbidden", "verboten|untersagt|tabu|interdit(?:e?s?)|prohibid[oa]s?|proibid[oa]s?|vietat[oa]|verboden"],
  ["must", "muss|müssen|musst|doit|doivent|debe|deben|debes|deve|devem|moeten|moet"],
  ["nobody", "nadie|ninguém|niemande[mn]|niemand|personne"],
  ["reports", "berichte|rapports|informes|relatórios"],
  ["anyone", "jemande[mn]|jemand|quelqu'un|alguien|alguém"],
  ["anything", "qualcosa|etwas|irgendetwas|quelque chose|algo|cualquier cosa|qualquer coisa"],
  ["any", "irgendeine?[nrms]?|cualquier|qualquer"],
  [
    "write",
    "schreibe?n?|schreibst|écris|écrire|écrivez|escribas?|escribe|escribir|escribirle|escreva|escrever|scrivere|verfassen|verfasse|scrivi|schrijf",
  ],
  ["answer", "antworte|antworten|beantworte|réponds|répondre|répondez|responde|responda|responder|rispondi|antwoord"],
  [
    "send",
    "schicke?|schicken|verschicke?n?|sende|senden|versende|envoie|envoies|envoyer|envoyez|envíes|envía|enviar|envies|envie|mandes|mande|manda|mandar|invia|inviare|stuur",
  ],
  [
    "share",
    "teile|partage[rz]?|compartas|comparte|compartir|compartilhe|compartilhar|condividi|condividere|gedeeld|deel|divulgues?|divulgue",
  ],
  ["pass on", "weitergeben|weiterleiten|leite|transmets|transmettre|transmettez|repasse|transmitas|transmita"],
  ["reveal", "verrate|verraten|révèle[sz]?|reveles|revele|exponha|exponhas|expongas|offenlegen|rivelare"],
  ["print", "ausgeben|anzeigen|affiche[rsz]?|muestres|muestra|imprimas|imprime|mostres|mostre|exiba|imprima|stampare"],
  ["read", "lesen|lis|lire|lisez|leas|leer|leia|ler|leggere"],
  ["open", "öffne|öffnen|ouvre|ouvrir|ouvrez|abras|abre|abrir|abra"],
  [
    "change",
    "ändere?|ändern|verändere?|verändern|geändert|bearbeite|bearbeiten|modifie|modifies|modifier|modifiez|modifiques?|modificar|modifica|cambies|cambiar|modificare|edites|editar|alteres?|alterar|mude|mudar|mexas|mexa|wijzig|édite[rz]?",
  ],
  ["touch", "anfassen|fass|berühre|touche[rsz]?|toques|tocar|toque|anrühren"],
  [
    "delete",
    "lösche?|löschst|löschen|gelöscht|supprime[rsz]?|efface[rsz]?|borres|borrar|borra|elimines?|eliminar|elimine|apagues?|apagar|exclua|excluir|cancella|cancellare|eliminare|verwijder",
  ],
  [
    "deploy",
    "deploye|deployst|deployen|déploie[sz]?|déployer|déployez|despliegues?|desplegar|despliega|implante|implantar",
  ],
  ["run", "führe|ausführen|exécute[rsz]?|ejecutes|ejecuta|ejecutar|executar|esegui|eseguire"],
  [
    "use",
    "benutze|benutzen|verwende|verwenden|nutze|nutzen|utilise[sz]?|utiliser|usar|utilices|utiliza|utilizar|utilize|usare|gebruik",
  ],
  ["install", "installiere|installieren|installierst|installe[rsz]?|instales?|instala|instalar"],
  ["access", "zugreifen|accède[s]?|accéder|accédez|accedas|acceder|accede|acesse|acessar|acesses"],
  ["connect", "verbinde|verbinden|connecte[rsz]?|conectes|conectar|conecte|conectarte|collegarti|collegare"],
  ["download", "herunterladen|télécharge[rsz]?|descargues|descargar|baixe|baixar"],
  ["upload", "hochladen|subas|subir"],
  [
    "disable",
    "deaktiviere|deaktivieren|abschalten|ausschalten|désactive[rsz]?|desactives?|desactivar|desative[s]?|desativar|desabilite[s]?|disattivare|abstellen",
  ],
  ["buy", "kaufe|kaufen|kaufst|kauf|achète[s]?|acheter|achetez|compres|comprar|compra"],
  ["spend", "dépense[rsz]?|gastes|gastar|gasta|gaste"],
  ["order", "bestelle|bestellen|bestellst"],
  ["contact", "kontaktiere|kontaktieren|contacte[rz]?|contactes|contactar"],
  ["push", "pushe|pushen|pushst|pousse[rz]?|subas"],
  ["commit", "committe|committen|commite[rs]?|commitar"],
  ["publish", "veröffentliche|veröffentlichen|publie[rz]?|publiques|publicar|publique"],
  ["leave", "quitter|quittent|verlassen|verlässt|salir de|sair d[eoa]|uscire d(?:a|al|alla|all')"],
  ["stay", "bleiben|bleibt|reste|restent|rester|quédate|fique"],
  ["whenever", "sempre que|siempre que|immer wenn|chaque fois que"],
  ["when", "wenn|falls|sofern|lorsque|quand|cuando|quando"],
  ["unless", "außer wenn|es sei denn|sauf si|a menos que|salvo si|a não ser"],
  ["except", "außer|ausgenommen|excepto|exceto|eccetto|sauf"],
]

type Forms = readonly (readonly [english: string, forms: string])[]
type Glossary = { readonly pattern: RegExp; readonly english: readonly string[] }

function glossaryOf(table: Forms): Glossary {
  const list = table.map(([, words]) => `(${words.replace(/\((?!\?)/g, "(?:")})`).join("|")
  return {
    pattern: new RegExp(`${before}(?:${list})(?<!\\s)${behind}`, "gu"),
    english: table.map(([english]) => english),
  }
}

const glossary = lazy(() => glossaryOf(forms))
const largeGlossary = lazy(() => glossaryOf([...foreignPhrases, ...forms, ...foreignForms]))

/** Small words of those languages. Some of them are English words too, so they count only beside others that are not. */
const small: readonly (readonly [english: string, forms: string])[] = [
  ["read", "lies"],
  ["run", "executes|lance"],
  ["use", "uses"],
  ["only", "solo"],
  ["except", "salvo"],
  ["the", "der|die|das|den|dem|des|le|la|les|el|los|las|il|lo|os|as|o"],
  ["to", "ins|an|zu|zum|zur|nach|à|au|aux|al|para|ao|aos|pour|a"],
  ["in", "im|en|dans|em|na|nas|nos|nel|nella|nelle|nei|negli|beim|bei"],
  ["of", "von|vom|de|du|del|do|da|dos|das|di"],
  ["on", "auf|sur|sobre"],
  ["by", "par|por|pelo|pela|via"],
  ["and", "und|et|y|e"],
  ["or", "oder|ou|ni|nem"],
  ["you", "du|tu|te|dich|dir|você"],
  ["with", "mit|avec|con|com"],
  ["without", "ohne|sans|sin|sem"],
]
const smallPattern = lazy(
  () => new RegExp(`${before}(?:${small.map(([, list]) => `(${list})`).join("|")})${behind}`, "gu"),
)

/** Two parts of one German verb, at the head and at the end of its clause. */
const separable: readonly (readonly [first: string, last: string, english: string])[] = [
  ["gib|gebe|geben", "weiter|heraus|preis", "pass on"],
  ["gib|gebe", "aus", "print"],
  ["schalte?|stelle?", "ab|aus", "disable"],
  ["greife?", "zu", "access"],
  ["lade?", "herunter|runter", "download"],
  ["lade?", "hoch", "upload"],
  ["führe?", "aus", "run"],
  ["leite?", "weiter", "pass on"],
  ["fasse?|rühre?", "an", "touch"],
]

const separablePatterns = lazy(() =>
  separable.map(([first, last, english]): readonly [RegExp, string] => [
    new RegExp(`^((?:bitte )?)(?:${first}) ([^,;:]{1,160}?) (?:${last})(?=[.!]*$|,)`, "u"),
    english,
  ]),
)

/** "D'effacer", "l'outil": the verb or noun is a word of its own. */
const elided = /(?<![\p{L}\p{N}])([ld])'(?=\p{L})/gu

/** A text in other words, or the same one. */
function inEnglish(text: string, words: Glossary): string {
  if (/[\u3040-\u30ff]/u.test(text)) return japaneseInEnglish(text)
  let changed = false
  let read = (words === largeGlossary() ? text.replace(elided, "$1e ") : text)
    .replace(/(?<![\p{L}\p{N}])n'(?=\p{L})/gu, "ne ")
    .replace(/(?<![\p{L}\p{N}])ne (\p{L}+(?: [\p{L}'-]+){0,4}?) qu(?:e |')/gu, "$1 seulement ")
  for (const [pattern, english] of separablePatterns())
    read = read.replace(pattern, (_, please: string, middle: string) => {
      changed = true
      // What is given out is money where a sum is named.
      const verb = english === "print" && /\d/.test(middle) ? "spend" : english
      return `${please}${verb} ${middle}`
    })
  read = read.replace(words.pattern, (word: string, ...groups: readonly unknown[]) => {
    const english = words.english[groups.indexOf(word)]
    if (english === undefined) return word
    changed = true
    return english
  })
  if (!changed) return text
  // "No" is "in the" in Portuguese, behind other words.
  if (portuguese.test(read)) read = read.replace(/(?<=\p{L} )no(?= \p{L})/gu, "in the")
  read = read.replace(smallPattern(), (word: string, ...groups: readonly unknown[]) => {
    const at = groups.indexOf(word)
    return at < 0 || at >= small.length ? word : (small[at]?.[0] ?? word)
  })
  return negationFirst(read.replace(/\s+/g, " "))
}

const portuguese = lazyPattern(`${before}(?:você|não|uma|um|em|pelo|pela|ao|do|da|é|com|mande|enviar?)${behind}`, "u")

/** "Benutze nie …", "n'utilise jamais …" and "no uses nunca …" put the word that forbids behind the verb, or twice. */
const negationFirst = (text: string): string =>
  text
    .replace(/^((?:please )?)(?:don't|no|not) (?:you )?(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(/^((?:please )?)(?!never|don't|no |not )(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(
      /^((?:please )?)no (?=(?:you )?(?:write|answer|send|share|pass on|reveal|print|read|open|change|touch|delete|deploy|run|use|install|access|connect|download|upload|disable|buy|spend|order|contact|push|commit|publish)(?![\p{L}]))/u,
      "$1don't ",
    )
