/**
 * Words that say what a sentence does, whatever it is about, by class and in the languages that the finder reads: folded, without accents.
 * The model reads classes beside words, so that what it learnt of one language holds in the others.
 */
export const wordTable: Readonly<Record<string, string>> = {
  never:
    "never nunca jamas jamais niemals nie mai nooit никогда ningun ninguna ninguno keinesfalls keineswegs aldrig asla katiyen nigdy | under no circumstances | in no case | at no time | on no account | bajo ningun | en ningun caso | auf keinen fall | unter keinen umstanden | en aucun cas | em hipotese alguma | de jeito nenhum | in nessun caso | hicbir zaman",
  always:
    "always siempre immer stets toujours sempre altijd всегда invariably systematically grundsatzlich systematiquement sistematicamente alltid daima hep surekli zawsze immerzu durchweg tevens | at all times | every single time | without exception | sin excepcion | ohne ausnahme | sans exception | sem excecao | by default | por defecto | standardmassig | par defaut | por padrao | her zaman | day or night | every time",
  lasting:
    "henceforth forever permanently permanent onward onwards hereafter desormais dorenavant fortan kunftig zukunftig generell doravante dorenavante throughout framover hadanefter artik odtad voortaan fortaan | from now on | from here on | from today on | from this point | going forward | moving forward | in future | in the future | until further notice | for good | for the rest of | for the whole | for the entire | for everything | as of today | starting today | starting now | for all our | for all future | in all future | from then on | de ahora en adelante | a partir de ahora | a partir de hoy | en adelante | hasta nuevo aviso | en el futuro | ab jetzt | ab sofort | ab heute | von nun an | von jetzt an | in zukunft | bis auf weiteres | fur die ganze | fur den rest | a l'avenir | a partir de maintenant | jusqu'a nouvel ordre | dans tout ce | de agora em diante | daqui em diante | daqui para frente | daqui pra frente | a partir de agora | no futuro | ate segunda ordem | d'ora in poi | d'ora in avanti | da oggi | da ora in poi | van nu af | from today | for all time | in futuro | vanaf nu | bundan sonra | bundan boyle | od teraz | od dzis | fran och med | fran nu | in het vervolg | now and later | today and any | for the long run | pour la suite | para lo que sigue | per il futuro | d'ici la fin",
  general:
    "generally usually normally typically whenever wherever whoever whichever cuandoquiera generalmente normalmente normalerweise jedesmal habituellement genelde genellikle zazwyczaj zwykle | in general | in generale | em geral | over het algemeen | in het algemeen | en regle generale | as a rule | as a general rule | rule of thumb | every time | each time | any time | no matter | por regla general | en general | cada vez | siempre que | sempre que | toda vez | todas as vezes | im allgemeinen | in der regel | jedes mal | immer wenn | egal | en general | chaque fois | a chaque fois | ogni volta | elke keer | unless i say | unless told | unless otherwise | until i say | salvo que | a menos que | es sei denn | sauf si | a nao ser | her seferinde | za kazdym razem | varje gang | whatever happens | come what may | pase lo que pase | quoi qu'il arrive | aconteca o que acontecer | was auch immer | egal was | telkens als | a ogni",
  must: "must shall mandatory required compulsory obligatory obligatorio obligatoria obligatorios obrigatorio obrigatoria debe deben debes debera deberan muss mussen musst musste zwingend unbedingt doit doivent dois devez devem deve devi moet moeten sollen soll sollst duty obliged needs nadie niemand personne nobody maste ska skall gerek gerekir lazım zorunlu sart musi musisz musza trzeba nalezy gehort gehoren devono dient | have to | has to | need to | needs to | are to be | is to be | tiene que | tienen que | tienes que | hay que | il faut | tem que | tem de | no one | supposed to | obliged to",
  should:
    "should ought deberia deberias deberian sollte sollten solltest devrait devraient devriez devrais deveria deveriam dovrebbe make ensure asegurate cerciorate sicherstellen stelle assure assurez certifique garanta borde powinien powinno powinny powinna",
  not: "not no nicht kein keine keinen keiner keines keinem pas ne sin ohne sans non nao sem niet geen не нет without cannot neither nor nothing none nada nichts rien aucun aucune nessun nessuno nessuna nenhum nenhuma inte ej ingen inga inget degil yok nie bez zaden zadnych zadna niets",
  dont: "don't dont avoid refrain stop quit cease evita evite eviten vermeide vermeiden eviter evitez evitar pare deja parad hor arrete arretez cesse undvik sluta unikaj przestan evitare evitate vermijd stoppen schluss fini basta chega acabou | do not | stop doing | keep away | stay away | stay out | steer clear | hands off | off limits | off-limits",
  forbid:
    "forbidden prohibited banned disallowed prohibido prohibida prohibidos prohibidas queda verboten untersagt tabu interdit interdite interdits proibido proibida vietato verboden taboo non-negotiable forbjudet forbjuden yasak zabronione zakaz tabou | not allowed | not permitted | no se permite | nicht erlaubt | nie wolno | no-go | is out | are out",
  may: "may allowed permitted can puede puedes pueden darf durfen darfst peut peuvent peux pode podem puo mag erlaubt permitido permis mozesz moze mozna kannst konnen kann",
  only: "only solely exclusively solo solamente unicamente exclusivamente nur ausschliesslich lediglich uniquement seulement exclusivement apenas somente soltanto alleen strictly bara endast enbart sadece yalnızca tylko wylacznie jedynie",
  limit:
    "limit limits max maximum minimum cap capped ceiling budget exceed exceeds exceeding least most tope limite maximo presupuesto hochstens mindestens obergrenze maximal plafond budget moins teto orcamento massimo hogst minst maksymalnie najwyzej najmniej | more than | less than | no more | at most | at least | up to | no longer than | not exceed | mas de | menos de | a lo sumo | como maximo | mehr als | nicht mehr als | plus de | au plus | no maximo | mais de | en fazla | en az",
  every:
    "every each all any everything anything everyone anyone anybody anywhere everywhere uberall durchgehend partout dappertutto overal both cada todo todos toda todas cualquier cualquiera jede jeder jedes jeden jedem alle allen alles chaque tout toute toutes tous tudo qualquer ogni tutti tutte elke ieder varje alla allt her butun tum kazdy kazda kazde kazdego wszystkie wszystko jeweils sammtliche samtliche",
  if: "if si wenn falls se als should sofern lorsqu'il eger jesli jezeli gdyby lorsqu",
  when: "when while once cuando sobald wahrend quand lorsque lorsqu quando mentre wanneer upon kiedy gdy nar toen",
  before:
    "before prior antes bevor vor avant prima voordat beforehand innan przed zanim onceden | ahead of | avant de | antes de",
  after: "after afterwards following despues nachdem nach apres depois dopo efter potem sonra",
  unless:
    "unless except exception exceptions salvo excepto ausser sauf exceto tranne otherwise sonst sinon forutom chyba oprocz behalve tenzij",
  ask: "ask confirm check consult approval approve approved approves permission consent sign-off signoff go-ahead okay authorization clearance pregunta preguntame preguntar consulta consultame confirma confirmame avisame aprobacion permiso autorizacion visto frag frage fragen ruckfrage ruckfragen zustimmung genehmigung freigabe bestatigung abklaren bestatige demande demandez demander confirme confirmez accord autorisation validation pergunte pergunta confirme consulte aprovacao permissao autorizacao chiedi conferma vraag toestemming fraga sor sormadan onay izin pytaj spytaj zapytaj zgoda zgody potwierdz bescheid chiedimi vraagt aprobar aval | run it by | run them by | check with | clear it with | let me know first | go ahead",
  prefer:
    "prefer prefers preferred preferably preference preferences rather ideally favor favour like prefiero preferiria preferimos preferencia preferiblemente bevorzuge bevorzugen lieber am liebsten vorzugsweise prefere preferons preferee preference idealement prefiro preferimos preferencialmente preferisco liever helst foredrar wole | i'd rather | i would rather | i'd prefer | i would like",
  want: "want wants wish hope quiero queremos mochte mochten will wollen veux voulons souhaite quero queremos voglio hate dislike vill chce chcemy",
  please:
    "please kindly bitte porfavor svp veuillez alstublieft snalla lutfen prosze stp aub graag | por favor | s'il te plait | s'il vous plait | se puder | bitte",
  you: "you your yours yourself tu usted ustedes vos vosotros du dir dich dein deine ihr sie vous votre vos toi voce voces lei agent agents assistant assistants claude chatgpt copilot codex gemini model ai bot dig ditt dina sen sana senin siz ci twoje je jij jou jouw",
  i: "i me my mine i'm i've i'll i'd yo mi mis me ich mir mich mein meine meinen meiner je j'ai mon ma mes moi eu meu minha meus minhas io mio mia jag mig mitt mina ben bana benim mnie moje moj ik mij mijn",
  we: "we us our ours we're we've let's nosotros nuestro nuestra nuestros wir uns unser unsere unseren nous notre nos on nossa nosso nos noi nostro oss biz bize bizim nas nasz nasze wij ons onze",
  this: "this that these those it its here there them este esta esto ese esa eso estos estas aqui dies diese dieser dieses diesen das hier ce cet cette ces cela ca ici isso isto aquele questo questa detta denna dessa bu dit deze ten tego",
  the: "the el la los las der die den dem le les l' o os as il lo gli het",
  now: "now today tonight tomorrow currently yet already soon moment ahora hoy manana ya jetzt heute morgen gerade noch maintenant aujourd'hui demain agora hoje amanha ja adesso oggi nu idag imorgon nyss bugun yarın simdi dzisiaj jutro vandaag | for now | this time | just this once | right now | at the moment | first draft | por ahora | de momento | esta vez | diesmal | furs erste | pour l'instant | cette fois | por enquanto | desta vez",
  task: "fix add create write build implement update change rename remove delete refactor move open run rerun look show give find search review explain translate summarize book cancel send draft prepare generate make arregla anade crea escribe cambia borra busca muestra traduce revisa reserva resume erstelle schreibe andere losche suche zeige ubersetze prufe buche fasse corrige ajoute cree ecris change supprime cherche montre traduis verifie reserve resume corrija adicione crie escreva mude apague procure mostre traduza verifique crea scrivi aggiungi",
  order:
    "abide abort abstain accept accumulate acknowledge adapt add adhere adjust adopt advance advertise aim alert align allocate allow amend analyze anchor annotate announce apologize append apply approve arrange ask assert assess assign assume attach authenticate authorize avoid await backup bail batch be become begin boil bootstrap bracket bring broaden buffer bundle calculate cancel capitalize carry catch categorize chain challenge choose chunk cite clarify classify clear close coalesce coerce collapse collect combine come communicate compare compensate comply compose compress compute conclude confine confirm conform connect consider consolidate constrain construct consult contain continue convert coordinate correct create cross-check customize decide declare declutter decouple dedupe deduplicate deescalate define degrade delegate delete deliver demonstrate deny depend deprecate derive describe detect determine diff dig disable disambiguate discard disclose discuss dispatch dispose disregard distinguish divide do double-check downgrade download drain drive duplicate eliminate embed emit emphasize emulate enable encapsulate encode encourage encrypt enforce engage enquire ensure enter enumerate erase err escalate establish estimate evaluate evolve examine exclude execute exempt expand expect experiment explain explore expose express extend facilitate fail fall fan favor favour feel find finish flatten follow forget formulate forward freeze front-load gather generate get give grant greet grep guarantee guess halt hand handwrite hard-code hardcode have hide highlight hold honor honour identify ignore implement improve include incorporate indent indicate infer inherit initialize inject inline insert inspect instrument integrate intend intercept interpret introduce invalidate investigate invite invoke isolate justify keep kill know launch lay lean learn let leverage listen locate lower maintain make manage maximize memoize mention migrate mimic minimize modify mount narrow navigate negotiate nest normalize notify obey obfuscate observe obtain omit operate opt optimize organize override parameterize parametrize paraphrase partition paste perceive perform persist pick ping polish pool populate port pre-compute predict prefer prefix preload prepare present preserve pretend prevent prioritize probe proceed prohibit promote propagate propose protect prove provide provision prune publish put qualify quit reason reassess reassure rebase rebuild recall receive recheck recommend recompute reconcile recover redact redirect reduce refer refine reflect reformat refrain refund refuse regard regenerate register reimburse reindex reinstall reject relax relay reload rely remap remember remind remove rename render reopen reorder repeat rephrase replace represent reproduce require rerun reseed resist resize resolve respawn respond restart restate restore restrict retain retarget retest rethink retrieve reuse reverse revise rotate round sanitize satisfy say scaffold scroll seed seek segment select send sequence serialize serve settle sharpen shield short-circuit shorten shut signal simplify skim smoke-test snapshot solve speak specify spell spot standardize stay steer stick stress-test strive subclass subscribe substitute subtract suggest summarize suppress suspect swallow swap tackle tailor take teach tee tell template terminate thank think throttle tighten tolerate translate traverse try undo unify unit-test unlock unset unwrap utilize validate verify vet void welcome whitelist widen withdraw withhold zero nenn nenne nimm gib schick schicke sende leg lege mach mache halte bleib lass antworte sprich duz duze sieze ruf benutze nutze verwende schreib notiere markiere runde lies hol melde warte trag trage setz setze stell stelle zeig sag sage erklar erklare rechne kurze kopiere speichere formatiere zitiere utilise utilisez mets mettez ecrivez donne donnez garde gardez laisse laissez reponds repondez appelle parle envoie envoyez prends fais faites evite arrondis commence termine tutoie tutoie-moi vouvoie signe range attends previens indique precise explique respecte passe dis utiliza pon ponga ponme da dame manda mandame envia guarda deja responde contesta habla llama llamame haz avisa avise redondea empieza termina firma pasa incluye marca trata tratame manten respeta dime explica coloca coloque escreve mande envie deixa deixe responda fala fale chama chame faz faca arredonda comeca assina inclui inclua mantenha mantem respeita explique metti scrivi dammi invia tieni lascia rispondi parla chiama chiamami fai avvisa arrotonda inizia segna includi tratta mantieni spiega gebruik zet schrijf geef stuur bewaar laat antwoord spreek noem doe hou houd rond vermeld meld wacht anvand skriv skicka spara svara prata tala kalla hall borja avrunda lagg uzywaj pisz daj wyslij zostaw odpowiadaj nazywaj trzymaj zaczynaj podawaj dodawaj sprawdzaj yaz kullan gonder cevapla",
  orderOrNoun:
    "access address answer approach archive audit author balance bind block book branch bridge browse budget build bump cache call cap capture change charge check claim clean click clone code comment commit compile contact contract control copy cost count cover credit cross cut date deal debug default defer delay demand deploy design detail display document draft drop edit email encounter end escape exercise exit export extract factor feature fetch file fill filter fix flag flow focus fold force fork form format function gate go group guard guide handle help hook host import increase index inform input install interface issue iterate join label land layer lead leave level lift limit line link lint list load lock log look loop mail map mark mask match measure merge message mind mirror mock model monitor move mute name need object offer open order output own pack package page pair parse pass patch pause pay phase pin place plan play post practice preview price print process produce profile program project prompt pull purchase push query quote raise range rank rate reach read record refactor reference refresh release reply report request research reserve reset resort respect rest result retry return revert review rewrite risk roll root route run sample save scale scan schedule scope score search secure sense separate set shape share ship show sign size skip slot sort source spawn speed spend split squash stack stage standard start state step stop store stream stress string strip structure stub study style subject submit suffix summary supply support surface switch sync tag talk target task team test thread throw tie time title toggle top touch trace track trade train transfer transform trap treat trigger trim trust turn tweak type update upgrade upload use value vendor version view visit voice wait walk warm warn watch weigh wire work wrap write yield",
  rule: "rule rules policy policies constraint constraints guideline guidelines requirement requirements restriction restrictions condition conditions limitation limitations boundary boundaries agreement agreements convention conventions principle principles instruction instructions regla reglas norma normas politica politicas restriccion restricciones directriz regel regeln vorgabe vorgaben richtlinie richtlinien bedingung grundsatz hausregel hausregeln spielregel spielregeln grundregel grundregeln vereinbarung regle regles consigne consignes contrainte contraintes politique regra regras restricao diretriz regola regole beperking condicion condiciones condizione condizioni condicao condicoes voorwaarde voorwaarden huisregel huisregels afspraak afspraken binding verbindlich kural kurallar zasada zasady kurallarimiz regelt etiquette protocol ground-rules | always holds | holds for | applies to everything | immer gilt | gilt immer | gilt fur alles | vale siempre | vale para todo | vale sempre | vale para tudo | vale per tutto | vaut toujours | vaut pour tout | valable pour | valable partout | geldt altijd | geldt voor alles",
  stress:
    "important importantly critical crucial essential vital mandatory priority seriously strict strictly absolute absolutely hard firm golden standing ground house importante critico crucial esencial fundamental wichtig wichtiges entscheidend wesentlich essentiel capital primordial essencial fundamental importante belangrijk non-negotiable negotiable insist",
  remember:
    "remember remembered memorize note noted remind reminder mind forget pin save memory record recuerda recuerde acuerdate apunta tenlo memoriza merk merke denk denke beachte beachten merken vergiss souviens rappelle rappelez retiens retenez note notez lembre lembra anote anota ricorda onthoud listen attention heed unutma aklinda pamietaj kom heads-up | keep in mind | bear in mind | for the record | ten en cuenta | ten presente | im hinterkopf | garde en tete | garde a l'esprit | tenha em mente | take note | one thing",
  scope:
    "session conversation chat thread project repo repository codebase team company engagement workspace sesion conversacion charla proyecto equipo empresa sitzung gesprach projekt firma unterhaltung conversation projet equipe entreprise conversa projeto equipe sessao sessione progetto",
  past: "was were had did been yesterday ago told said wrote went came got made found used thought knew happened worked failed broke forgot noticed realized ayer fue era estaba habia dijo paso gestern war waren hatte wurde sagte hier etait avait dit ontem foi era tinha disse ieri gisteren igar dun wczoraj bylo byla byl blev | last week | last time | last month | used to",
  maybe:
    "maybe perhaps probably possibly might could would think guess suppose believe wonder wondering seems seem looks quizas tal parece creo vielleicht wahrscheinlich glaube denke scheint peut-etre pense crois semble talvez acho parece forse if possible kanske belki moze misschien",
  wh: "why what how who which where que como por quien cual donde warum was wie wer welche wo pourquoi quoi comment qui quel quelle ou quando porque onde qual perche come chi varfor vad hur vem neden nasil kim dlaczego waarom hoe",
  aux: "is are am does do isn't aren't doesn't es son esta estan hay ist sind bin gibt est sont suis sao estao ha sono",
  shall: "can't won't couldn't wouldn't didn't wasn't weren't haven't hasn't hadn't",
  product:
    "user users customer customers visitor visitors button buttons form forms field page pages screen menu modal dashboard app endpoint api server database table column function method class component test tests input output password login website feature button usuario usuarios cliente clientes boton formulario pagina pantalla nutzer benutzer kunden kunde knopf formular seite utilisateur utilisateurs client clients bouton formulaire botao formulario tela pagina",
  artifact:
    "poster sign notice flyer leaflet sheet banner handbook manual faq prompt chatbot robot game application website plugin widget cli script program parser validator service dialog device firmware machine elevator gate bridge pump sensor alarm importer exporter crawler scraper compiler module library daemon scheduler queue job worker form bot agent's story poem song novel character plakat aushang schild merkblatt spiel programm maschine ampel brucke fahrstuhl affiche panneau jeu programme machine pont cartel letrero juego programa maquina puente cartaz aviso jogo programa maquina cartello gioco programma bord spel brug poster",
  output:
    "answer answers reply replies response responses summary summaries explanation explanations report reports draft drafts email emails mail mails message messages commit commits diff diffs comment comments code snippet snippets chart charts plot plots plan plans list lists table tables recipe recipes slide slides translation translations text texts letter letters estimate estimates protocol protocols minutes note notes suggestion suggestions review reviews variable names headline headlines caption captions paragraph paragraphs sentence sentences quote quotes figures amounts prices dates times numbers antworten antwort zusammenfassungen berichte entwurfe mails betrage zahlen preise daten texte ubersetzungen kommentare reponses reponse resumes rapports montants chiffres textes respuestas respuesta resumenes informes importes cifras textos respostas resumos relatorios valores risposte risposta riassunti rapporti importi cifre antwoorden antwoord samenvattingen rapporten bedragen",
  third:
    "he she they him her his hers their theirs someone somebody people boss manager auditor auditors consultant lawyer teacher doctor landlord neighbour neighbor colleague colleagues contract law article author journal committee council ministry regulator reviewers reviewer funder insurer insurance bank agency supplier's grandmother grandfather grandma sister brother mother father wife husband bylaws label satzung oma opa kunde grand-mere abuela abuelo avo nonna er ihm chef prufer gesetz vertrag il elle ils elles lui leur leurs ellos ellas auditor jefe ele ela eles elas chefe capo revisore wet baas",
  usual:
    "whatever however ever shop anyone's habit habits customarily | for me | with me | to me | for us | with us | around here | in here | that's how | that is how | the way i | the way we | how i want | how we | as agreed | as always | as usual | like always | we're a | in this house | on our side | bei uns | bei mir | fur mich | mit mir | wie immer | wie vereinbart | chez nous | chez moi | pour moi | pour nous | avec moi | comme toujours | comme convenu | para mi | para nosotros | conmigo | como siempre | entre nosotros | para mim | para nos | comigo | como sempre | como combinado | da noi | per me | per noi | con me | come sempre | bij ons | voor mij | voor ons | zoals altijd | when it comes to | as to | as for | in terms of",
  swap: "instead rather anstatt statt anstelle plutot invece plaats lugar vez | rather than | instead of | and not | not the other | en lugar de | en vez de | em vez de | au lieu de | invece di | in plaats van",
  thanks:
    "thanks thank great perfect awesome nice cool ok okay yes yeah yep sure sorry hello hi hey gracias perfecto hola vale danke super hallo gut genau merci parfait bonjour oui obrigado obrigada perfeito ola sim grazie",
  say: "says say said claims according told writes wrote mentioned heard asked asks demands demand insists requires require stipulates recommends advises reads dice dijo segun exige pide sagt sagte laut schrieb schreibt verlangt fordert steht dit selon exige demande disait diz disse segundo pede dice diceva vieta secondo zegt zei volgens eist",
  stays:
    "goes go gets get stays stay remains remain comes come belongs belong bleibt bleiben kommt kommen geht gehen bekommt bekommen reste restent vont queda quedan va van lleva llevan vai vao fica ficam recebe gaat gaan blijft blijven krijgt krijgen komen resta restano vanno viene vengono kalir kalsin gar far stannar idzie zostaje",
  once: "once | this one | this letter | this mail | this file | this chapter | this trip | this order | this report | this time | only today | just today | in dieser | in diesem | fur diese | fur diesen | cette lettre | pour cette | esta carta | para esta | nesta carta | para esta | in questa | per questa | in deze | voor deze",
}

/** Endings in scripts without blanks between words, by class: looked for anywhere in a run of them. */
export const wideTable: Readonly<Record<string, string>> = {
  never:
    "绝不 永远不 从不 决不 绝对不 千万不 千万别 切勿 严禁 任何情况下都不 絶対に 決して 一切 禁じ 절대 절대로 결코 絶対",
  always: "总是 始终 一律 永远 务必 一定要 必ず 常に いつも 항상 반드시 늘 매번 언제나 꼭 毎回 每次都 都要 一概 统一",
  lasting:
    "以后 今后 从现在起 从现在开始 从今 往后 接下来 全程 今後 これから 以降 앞으로 지금부터 이제부터 이후로 平时",
  general: "每次 每当 凡是 无论 不管 只要 一般 通常 原则上 毎回 常時 基本的に 原則 たびに 場合は 都度 凡",
  must: "必须 须 应当 应该 得先 要先 需要 ければなりません なければならない べき すること 해야 야 해 ようにし ように",
  dont: "不要 别 不得 不准 不许 不能 勿 请勿 避免 ないでください しないで 避けて てはいけ ないこと 하지 마 지 지마 말고 말아 않습니다 ないで やめて 别给",
  forbid: "禁止 严禁 不允许 禁じ 禁止 금지",
  only: "只能 只允许 仅限 只用 只在 只 だけ のみ しか 만",
  limit: "最多 不超过 上限 至少 限额 以内 以下 以上 まで 超え",
  every: "所有 任何 全部 每个 每 都 全て すべて どんな 모든",
  if: "如果 要是 若 的话 もし たら なら 場合 만약 면 라면",
  when: "时候 时 当 とき 時 際 때 땐 때는 ときは 時は",
  before: "之前 前 先 前に まえに まず 전에",
  unless: "除非 除了 未经 没有我的 以外 限り ない限り",
  ask: "问我 先问 征得 同意 批准 确认 许可 授权 审批 确认 確認 許可 承認 聞いて 相談 확인 물어 확인받 허락 승인",
  prefer: "喜欢 更希望 偏好 最好 优先 尽量 希望 好み 希望 てほしい なるべく できれば 優先 宁愿 宁可",
  please: "请 麻烦 ください お願い 주세요 줘 해줘 주십시오 ほしい 欲しい",
  you: "你 您 助手 あなた",
  i: "我 私 僕",
  we: "我们 咱们 私たち 弊社 当社",
  this: "这个 这 那个 那 これ それ この その",
  now: "现在 今天 明天 刚才 先把 今 今日 明日 さっき とりあえず",
  rule: "规则 规定 政策 要求 约定 原则 规范 条件 规矩 约束 遵守 ルール 規則 方針 決まり 制約 規定 約束 守って 규칙 约好 说好 決めて",
  stress: "重要 关键 注意 务必 大事 注意 必須",
  remember: "记住 牢记 记得 覚え 忘れ 留意 念のため",
  past: "了 过 昨天 ました でした だった 昨日",
  ask2: "吗 呢 什么 为什么 怎么 ですか ますか でしょうか なぜ どう か？ 까요",
  maybe: "可能 也许 好像 觉得 かもしれ と思 たぶん",
  product: "用户 按钮 页面 表单 ユーザー ボタン 画面",
  task: "帮我 把 写 改 修 翻译 看看 して 直して 書いて 作って",
  not: "않 없 没 ない ません",
}

/** The names of the classes in order: a class is known by its place. */
export const classNames: readonly string[] = [
  ...new Set([...Object.keys(wordTable), ...Object.keys(wideTable), "plural"]),
]

export const placeOf = (name: string): number => classNames.indexOf(name)

/** Classes as bits by their places in `classNames`, of which there are no more than 64. */
export type ClassSet = { readonly low: number; readonly high: number }

/** The classes of the given names by their places. */
const classPlaces = (names: string): readonly number[] => names.split(" ").map(placeOf)
export const classSet = (names: string): ClassSet => setOfPlaces(classPlaces(names))

export function setOfPlaces(places: readonly number[]): ClassSet {
  let [low, high] = [0, 0]
  for (const place of places)
    if (place < 32) low |= 1 << place
    else high |= 1 << (place - 32)
  return { low, high }
}

/** Have two sets a class in common? */
export const sharesClass = (one: ClassSet, two: ClassSet): boolean =>
  ((one.low & two.low) | (one.high & two.high)) !== 0
