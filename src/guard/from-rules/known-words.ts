import { lazy } from "../../language/lazy.ts"
import { bindsSomething, clausesIn } from "./clauses.ts"
import { acting, actingLast, asking } from "./statement.ts"

/** What a vocabulary is for: a family of rules, or a part of one that has words of its own. */
export const topics = [
  "recipients",
  "channels",
  "regions",
  "language",
  "hosts",
  "network",
  "secrets",
  "personal-data",
  "paths",
  "tools",
  "read-only",
  "spend",
  "no-spending",
  "ask-before",
  "production-data",
] as const
type Topic = (typeof topics)[number]

/**
 * Words that rules of a family are made of. A clause that has no other word says nothing beside what is forbidden or allowed, in whatever
 * order: no case, no purpose and no other thing that would narrow it. One unknown word, and it may.
 */
export const isExplained = (text: string, topic: Topic): boolean =>
  wordsIn(text).every(
    (word) =>
      common().has(word) ||
      words[topic]().has(word) ||
      (topic === "spend" && isFigure.test(word)) ||
      (topic === "hosts" && /^\d{2,5}$/.test(word)),
  )

/** Has it a word that belongs to what it is about? */
export const speaksOf = (text: string, topic: Topic): boolean => wordsIn(text).some((word) => words[topic]().has(word))

/** Is a condition nothing but the act that the rule is about: "when you launch a server"? */
export const isAct = (marked: string, topic: Topic): boolean =>
  /^(?:when(?:ever)?|if|each time|every time|any time) (?:you|we|\p{L}+ing)(?![\p{L}])(?!.*(?<!\p{L})(?:can|could|not|don't|haven't|isn't|aren't|never|no)(?!\p{L}))/u.test(
    marked,
  ) && isExplained(marked.replace(conditionWords, " "), topic)

/** What is named does or does not do something itself: "‹medium› never sends me anything", "only ‹domain› has it". */
const isFact =
  /^(?:only|just) ‹\p{L}+› (?:have|had|(?!gets |goes |stays |remains |is |receives |belongs |was )\p{L}+s)(?!\p{L})|^(?:the |our |my )?(?:‹\p{L}+›|\p{L}+ (?:of|at|in|on|to) ‹\p{L}+›) (?:(?:never|always|only|still|hardly|rarely) (?!gets |goes |stays |remains |leaves |is |receives )\p{L}+s(?!\p{L})|(?:doesn't|does not|won't|can't|cannot) (?!get |receive |hear |be |need |leave |go |belong |appear |end )\p{L}+)/u

const isReason =
  /^(?:and |but |so )?(?:because|since|that's|that|this|it's|it is|i've|i'm|i have|i am|he|she|they|we|people|everyone|everybody|which|as)(?![\p{L}'])/u

/** What is said where a person is to be asked, and means no more than that. */
const askingWords =
  /(?<![\p{L}-])(?:ask(?:s|ed|ing)?|check(?:ed|ing)?|confirm(?:s|ed|ing|ation)?|approv(?:e|es|ed|al|als|ing)|consent|say-so|go-ahead|sign-?off|signed|cleared?|run|past|first|before|without|unless|until|once|after|explicit(?:ly)?|prior|agree[ds]?|nod|blessing|yes|consult(?:ed|ing)?|okayed|wait|decide|decision|say|said|beforehand|word)(?![\p{L}-])/gu

const conditionWords = /(?<!\p{L})(?:when(?:ever)?|if)(?!\p{L})/gu

/**
 * Are all words known in what a marked rule forbids, allows or confines? What stands beside that and does neither is a reason: "we are
 * bound by contract, so nothing goes to …".
 */
export function isPlainRule(marked: string, topic: Topic): boolean {
  const text = marked.replace(acting, "").replace(actingLast, "").replace(conditionWords, " ")
  const clauses = clausesIn(text).flatMap((clause) => (clause.text === "" ? [] : [clause.text]))
  const bound = clauses.filter((clause) => bindsSomething(clause) && (clause.includes("‹") || !isReason.test(clause)))
  const binding = bound.length > 0 ? bound : clauses
  const isKnown = (clause: string): boolean =>
    isExplained(clause, topic) || (asking.test(text) && isExplained(clause.replace(askingWords, " "), topic))
  // A clause that names nothing of the family may be about anything: "… a chapter a day, never on the phone".
  const isGrounded = (clause: string): boolean =>
    speaksOf(clause, topic) ||
    (clause.includes("‹") && (topic !== "channels" || clauses.length <= 2 || text.split("‹").length > 2))
  if (isFact.test(text)) return false
  return binding.every(isKnown) && (binding.some(isGrounded) || isKnown(text))
}

const isFigure =
  /^(?:\p{Sc}?\d[\d']*(?:k|m)?|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|ten|hundred|thousand|grand)|euros?|eur|dollars?|dólares|bucks?|usd|r\$|pounds?|quid|gbp|yen|jpy|chf|francs?|franken|sek|nok|dkk|pln|cad|aud|reais|brl|rupees|inr|yuan)$/u

/** "The Lyon office", "our night crew": which of them it is makes no other rule of what is sent there. */
const whichTeam =
  /(?<=(?<!\p{L})(?:the|our|my|all|any|every) )[\p{L}-]+ (?=(?:team|office|branch|crew|department|staff|customers?|clients?|suppliers?|partners?)(?!\p{L}))/gu

const wordsIn = (text: string): readonly string[] =>
  text
    .replace(whichTeam, "")
    .replace(/‹[a-z]+›(?: ?'s)?/g, " ")
    .split(/[^\p{L}\p{N}'$-]+/u)
    .map((word) => word.replace(/^['-]+|['-]+$/g, ""))
    .filter((word) => word !== "")

/** The words of a list, and for those before the bar their forms: `send`, `sends`, `sending`, `sent`. */
function listed(list: string): ReadonlySet<string> {
  const [inflected = "", plain = ""] = list.split("|")
  const split = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "")
  return new Set([...split(plain), ...split(inflected).flatMap(formsOf)])
}

/** The forms that a regular word may have; some that no word has do no harm. */
function formsOf(word: string): readonly string[] {
  const stem = word.replace(/e$/, "")
  const doubled = `${word}${word.at(-1) ?? ""}`
  const changed = word.replace(/y$/, "i")
  return [
    ...[word, `${word}s`, `${word}es`, `${changed}es`, `${changed}ed`, `${word}'s`, `${word}s'`],
    ...[`${stem}ed`, `${stem}ing`, `${doubled}ed`, `${doubled}ing`, `${stem}er`],
  ]
}

const common = lazy(() =>
  listed(
    `thing way kind person reason rule exception condition circumstance case
    want use keep leave stay stick avoid refrain stop restrict limit confine allow permit forbid prohibit ban block need get let happen
    | a an the any all every each either neither both no none nobody nothing nowhere zero never not nor or and but so also too then
    is are be been being am isn't aren't do does don't doesn't done doing can can't cannot may must mustn't shall shan't should shouldn't
    have has having got kept make makes making made come comes coming go goes going whole exactly insist new whose will won't i i'm i'd i'll i've me my mine myself we we're us our ours you you're you've you'd your yours yourself
    it its it's itself that that's there there's here here's they they're them their theirs this these those what what's whatever which
    who whoever whom where wherever anyone anybody anything anywhere someone somebody something everyone everybody everything everywhere
    anyone's nobody's one ones stuff other others another else elsewhere otherwise only sole solely exclusively just simply purely
    strictly absolutely completely entirely totally fully wholly altogether really truly always ever forever whatsoever at of to in on
    by for with from into onto out off over about around within inside outside beyond under below via through per than except
    exclusive excluded excepted besides apart aside matter regardless please thanks ok okay fine taboo off-limits forbidden forbade banned bounds question
    table no-go unacceptable acceptable supposed authorized free welcome sure ensure remember note reminder important period full stop
    again more longer further two three four single concern job role task part hands fingers alone away clear well right even
    permission authority mandate agent agents assistant ai bot subagents bots possible way ways choice choices option options
    as far remain remains far hereby kindly thank permanently directly circumstances whichever mandatory require requires required
    must've people folks folk human humans sonst good idea ever exist existing own behalf
    untouched unchanged hold hands-off rest tell told fyi heads reminder`,
  ),
)

/** Those to whom something is written or said: a rule for some of them is made one for all, and is less sure for that. */
const people = `customer client supplier vendor partner guest parent patient tenant member subscriber student visitor user employee colleague
  driver donor volunteer landlord applicant candidate contractor neighbour neighbor family resident office branch shop reader team agency
  caller crew courier lawyer teacher player follower fan friend informant source journalist board investor shareholder buyer seller owner
  manager boss director accountant bookkeeper doctor nurse trainer coach child kid relative sponsor author editor reviewer attendee
  participant traveller traveler passenger farmer dealer distributor manufacturer wholesaler retailer freelancer consultant intern trainee
  worker technician engineer developer tutor pupil citizen authority council court bank insurer school university club church clinic
  hospital practice lab warehouse factory restaurant hotel kitchen studio gallery museum library farm lead prospect stranger crowd`

const words: Readonly<Record<Topic, () => ReadonlySet<string>>> = {
  tools: lazy(() =>
    listed(
      `run execute use call invoke type issue employ touch trigger fire launch start try resort reach enter perform go see command tool
      function utility program script repository project machine computer laptop system session do pick grab binary executable operation action
      endpoint method flag option invocation
      | ran cli shell terminal console usage disabled unused solution answer toolbox hear codebase`,
    ),
  ),
  hosts: lazy(() =>
    listed(
      `connect talk call hit request fetch download upload reach contact access visit browse open load pull push send go log sign query
      ping look check read scrape crawl surf touch post communicate stream sync exchange transfer copy retrieve resolve point
      site website page server host api endpoint domain url address network connection file package image dependency registry mirror box
      machine service source destination library artifact module model document clone feed repository wiki portal platform search engine shop
      forum archive report result scan run conduct
      | up against scope port make sent internet web online traffic data outbound outgoing egress ingress external internal login logins info information
      documentation docs ssh scp curl wget rsync sftp ftp http https gone went offline network's disconnected anonymous`,
    ),
  ),
  regions: lazy(() =>
    listed(
      `deploy provision create launch start boot move migrate replicate copy put place store host spin set build open run live use touch up
      operate work allocate locate sit reside ship push roll scale spread add stand back keep
      instance vm server cluster bucket database volume workload resource region zone location deployment service account project stack
      function container backup machine node environment network queue snapshot replica cloud datacenter table disk customer need take archive record copy image key secret app
      application site system
      | ran built data infrastructure infra storage up soil leave leaves leaving residency hosting staging production compute gcp aws azure google amazon microsoft microsoft's european american swiss german land lands costs new virtual pick picks choose select db dbs vpc`,
    ),
  ),
  language: lazy(() =>
    listed(
      `write answer reply respond send message mail email e-mail correspond communicate post text speak talk say use contact address compose
      draft phrase word reach inform notify
      letter response language chat channel room group note conversation announcement newsletter notification comment invitation reminder
      ${people}
      | wrote written sent correspondence communication communications outgoing staff mandatory replies public outside outsiders abroad
      fluent default publish published conduct conducted go goes going leave leaves mandatory obligatory compulsory whoever`,
    ),
  ),
  channels: lazy(() =>
    listed(
      `contact message reach post send communicate notify inform write talk tell ping dm text call ring phone use answer reply respond
      announce chat speak run open create file raise publish share update go belong alert dial
      channel notification route medium place contact conversation post account word app platform service room group
      ${people}
      | sent wrote written means communication communications direct hear press staff outside outsiders profile media public internal
      external private postings`,
    ),
  ),
  recipients: lazy(() =>
    listed(
      `mail email e-mail write send message contact address cc bcc forward copy include put receive get hear land reach reply answer go end
      drop deliver bother
      inbox mailbox domain account recipient list correspondence letter message employee colleague user organisation organization company
      | sent wrote written addresses internal external staff replies outside outsiders outgoing do-not-mail mailing beyond team anyone's whoever works work gets outsider world outbound policy follow landing check mailings
      contacts in-house received getting notified strangers third party parties newsletter newsletters`,
    ),
  ),
  paths: lazy(() =>
    listed(
      `change edit modify touch alter write overwrite update create add rewrite rename move refactor reformat delete remove wipe purge erase
      read open access look view enter go see peek work save store put place commit tinker mess fiddle do clean tidy drop lose
      file folder directory edit deletion modification content code area path document drive subfolder place workspace thing tree
      | wrote written wrote lost read-only readonly frozen off locked access manual manually hand changes everything third-party off-limits
      mess fiddle tampering tamper generated unchanged untouched under beneath survive intact near into`,
    ),
  ),
  "no-spending": lazy(() =>
    listed(
      `spend buy purchase order pay book shop money payment cent penny dime transaction make place
      | spent bought paid`,
    ),
  ),
  spend: lazy(() =>
    listed(
      `spend buy purchase order pay book cost charge exceed cap top limit approve order place make
      budget payment purchase order invoice expense transaction subscription transfer refund booking basket cart checkout bill item
      amount sum total expenditure card wallet purse spending allowance money outlay acquire
      | spent bought paid max maximum most ceiling cent penny dime more less least above below over under past within up beyond than
      greater higher pricier dearer costlier expensive cheaper overall altogether anything go going goes climb rise exceed exceeding
      tops worth hard upper absolute equal lay out each day daily session sign long app tip tips room dólares kr much dearer come leave shop once`,
    ),
  ),
  secrets: lazy(() =>
    listed(
      `commit check push send share post forward mail email paste upload leak transmit expose give hand pass read open look access view print
      log echo output display show write put store save copy publish reveal disclose message tell appear end type include dump
      token key password secret credential code repository ticket chat commit file branch terminal console screen transcript answer reply
      vault customer colleague issue comment request document
      | sent given shown wrote written told logs git history version control source stdout chats slack anyone plain public outside api auth
      access bearer session refresh up`,
    ),
  ),
  "personal-data": lazy(() =>
    listed(
      `send share post forward disclose reveal give include put mention pass tell show hand publish sell trade know learn hear find see write
      discuss leak expose contain appear mail email text fax upload paste circulate distribute divulge read
      number address name birthday diagnosis prescription record detail date card account passport iban data information file
      customer client guest member employee patient donor tenant staff student volunteer user supplier partner caller driver colleague
      resident applicant visitor subscriber contractor child parent team company message mail letter ticket chat reply answer post
      | sent given shown told wrote written known found email e-mail emails phone mobile cell telephone home private personal medical health
      credit bank social security national birth born confidential secret public outside outsiders externally third party parties parties'
      pii ssn ssns street postal lab results history histories illness identity id diagnoses outgoing`,
    ),
  ),
  network: lazy(() =>
    listed(
      `use access connect go reach make call request open send touch browse surf work operate run cut allow machine computer disconnect
      connection network
      | internet web online offline traffic outbound outgoing egress locally local yourself world gone calls access cut project whole`,
    ),
  ),
  "read-only": lazy(() =>
    listed(
      `change modify edit write alter touch create delete remove look read work operate update move rename overwrite run mode file code
      access modification system repository project browse inspect view explore analyse analyze
      | read-only readonly wrote written reading observer changes mess`,
    ),
  ),
  "production-data": lazy(() =>
    listed(
      `change modify edit write alter touch create delete remove look read work operate update insert drop truncate wipe purge erase destroy
      access connect query open see log go run execute make mess tamper mutate migrate overwrite view inspect browse
      database table row record system server environment site data entry schema collection customer migration statement change backend
      | production prod live db dbs read-only readonly wrote written reads writes staging off-limits sql real destructive near mess data`,
    ),
  ),
  "ask-before": lazy(() =>
    listed(
      `ask check confirm approve agree consult run clear wait hold show review say give approve okay sign deploy deployment delete deletion
      remove removal push merge publish release commit install add buy purchase order pay book spend transfer mail email e-mail send message
      post restart reboot cancel migrate migration drop wipe erase destroy change edit modify file package dependency library payment rollout
      order booking database data draft letter reply migration ship record plan subscription meeting appointment flight hotel service server
      contact publish purchase merge move overwrite go
      | before first without until unless once after prior beforehand approval consent blessing nod green light go-ahead say-so sign-off
      signed bought paid sent about when whenever if each every new yes word explicit expressly explicitly written branch branches code
      anything given gave seen stop wait decide decides permission ahead thumbs up version versions advance commits pull requests request
      repository repo remote require requires pr prs make behalf customer customers clients suppliers however small table tables all time outgoing public external decision mine personally`,
    ),
  ),
}
