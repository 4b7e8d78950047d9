import { foldCharacter } from "../language/fold.ts"
import { type Cue, cue } from "./find-cue.ts"

/** Patterns folded as the view is folded: without accents, kana without their marks, Hangul taken apart. */
const any = (...patterns: readonly string[]): Cue =>
  cue(new RegExp([...patterns.join("|")].map(foldCharacter).join("")))
const latin = (list: string): string => `(?<![\\w-])(?:${list})(?![\\w])`

/** What the cues of one kind are in the other languages: Chinese, Spanish, Portuguese, German, French, Japanese, Russian, Korean. */
export const foreign = {
  lasting: any(
    "从现在(?:起|开始)|從現在|今后|今後|以后|以後|永远|永遠|始终|始終|总是|總是|每次|每当|每當|任何情况|任何情況|任何时候|任何時候|无论|無論|一律|从不|從不|绝不|絕不|决不|永不|长期|一直|所有|任何|未经|未經|规定|政策|规则|切勿|除非|凡是|默认",
    latin(
      "siempre|nunca|jamas|a partir de (?:ahora|hoy|agora)|de (?:ahora|agora|hoy) en adelante|de agora em diante|en (?:todo momento|adelante|ningun (?:caso|momento))|bajo ningun\\w*|en ningun caso|cada vez(?: que)?|siempre que|tod[oa] (?!el|la|lo|los|las|esto|eso|bien|listo)\\w+|todos? l[oa]s|todas las|cualquier|en este (?:proyecto|repo\\w*|chat)|hasta nuevo aviso|sin excepcion\\w*|sempre|em (?:hipotese|nenhum caso|nenhuma)\\w*|todos os|todas as|qualquer|toda vez|nossa politica|politica|norma|regla|regra",
    ),
    latin(
      "immer|nie|niemals|ab (?:jetzt|sofort|heute)|von nun an|kunftig|in zukunft|jederzeit|auf keinen fall|unter keinen umstanden|jedes mal|grundsatzlich|stets|alle|jede[rsnm]?|bis auf weiteres|ohne ausnahme|toujours|jamais|desormais|dorenavant|a l'avenir|a partir de maintenant|en aucun cas|sous aucun pretexte|chaque fois|a chaque fois|tou(?:s|tes) les|tout(?:e)?|jusqu'a nouvel ordre|sans exception|systematiquement",
    ),
    "今後|これから(?:は)?|常に|必ず|絶対に?|決して|いかなる|すべて|全て|毎回|いつも|一切|항상|절대|앞으로|언제나|всегда|никогда|впредь|отныне|ни при каких|каждый раз|все(?:гда)?",
  ),
  forbids: any(
    "不要|不得|禁止|严禁|嚴禁|切勿|请勿|請勿|勿|不许|不許|不准|不可(?!能)|不能|不应|不應|不该|(?:没有|未经|无|没).{1,20}[,，]? ?(?:谁(?:也|都)|任何人(?:都|也)?|一律).{0,4}不|别(?!的|人|处|墅)|別(?!の|人)|绝不|絕不|决不|永不|不允许|不允許|不再|杜绝|避免|避开|不接受|不收",
    latin(
      "no se (?:aceptan?|admiten?|toleran?|trabaja|hacen?|dan?|envian?|comparten?|publican?|borran?|eliminan?|despliegan?|usan?|pagan?|venden?|autorizan?)|nunca|jamas|no (?:se )?(?:debes?|deben|deberas?|puedes?|pueden?|podras?|debera|podra|permite[ns]?|permitid[oa]s?|esta permitido)|(?:esta|queda|estan|quedan)(?: \\w+){0,2} prohibid[oa]s?|prohibid[oa]s?|se prohibe|bajo ningun\\w*|en ningun (?:caso|momento)|evita(?:r|d)?|evite|abstente|deja de",
    ),
    "(?:^|[,;:] ?|\\b(?:y|por favor|pero|ahora|entonces) |^(?:a|con|para|en|sobre|de) (?:\\w+ ){1,4})no (?!(?:es|estas?|tienes|eres|hay|has|sabes|quieres|vas|ves|puedes|crees|debes)\\b)(?:(?:me|le|les|lo|la|los|las|nos|te|se) )?(?:\\w{2,}(?:es|as)|des)\\b",
    "(?:^|[,;:] ?)(?:nada|nadie) (?!sabe|entiende|viene|esta|ha|han|tiene|conoce|contesta|responde|mas|funciona|cambia|dice)(?:se )?\\w+(?:a|e|an|en)\\b|^en \\w+(?: \\w+)? no se \\w+(?:an?|en?)\\b",
    "(?:^|[,;:] ?|\\b(?:y|por favor|pero|e|ahora|agora) )(?:no|nao) (?:(?:se|me|lhe|le|lo|la) )?(?:envie|use|utilice|borre|elimine|modifique|comparta|haga|ejecute|revele|publique|escriba|acepte|apruebe|compre|gaste|instale|mencione|responda|acceda|ponga|diga|suba|cambie|toque|incluya|copie|reenvie|pague|despliegue|transfiera|abra|cierre|autorice|faca|apague|exclua|altere|compartilhe|revele|execute|instale|inclua|mude|mexa|poste|pague|gaste|compre|aprove|mande|delete|remova|edite|escreva|publique|aceite|implante|utilize|acesse)n?\\b",
    latin(
      "nao (?:se )?(?:pode[mr]?|deve[mr]?|e permitido|sao permitid[oa]s)|proibid[oa]s?|e vedado|evite|em hipotese alguma|de jeito nenhum",
    ),
    latin(
      "nie|niemals|keinesfalls|auf keinen fall|unter keinen umstanden|(?:darf|darfst|durfen|durft|soll|sollst|sollen|kann|konnen) (?:\\w+ ){0,8}?(?:nicht|nie|keine?[nmrs]?)|nicht (?:erlaubt|gestattet|zulassig)|verboten|untersagt|unzulassig|vermeide[nt]?",
    ),
    "^kein[a-z]{0,2} (?!ahnung|problem|sorge|zeit|fehler|frage|antwort|angst|wunder|lust|chance|treffer|ergebnis|anderung|daten|hinweis|grund|bedarf)[a-z-]+ (?:nach|vor|an|per|bei|fur|uber|auf|unter)\\b(?!.{0,60}\\bge[a-z]+(?:t|en)\\b)",
    "^(?:niemand|kein[a-z]{0,2} [a-z-]+) (?:[a-z-]+ ){0,8}?(?:ohne|au(?:ss|ß)er)\\b",
    "^(?:bitte )?[a-z]{3,}(?:e|en sie|t)? (?:\\w+ ){0,7}?(?:nicht|nie|niemals|keine?[nmrs]?)\\b",
    latin(
      "ne (?:jamais|\\w+(?: \\w+){0,3}? (?:pas|jamais|plus|aucune?|rien|que))|n'\\w+(?: \\w+){0,3}? (?:pas|jamais|plus|aucune?|rien)|jamais|interdit(?:e|es|s)?|(?:est|sont) (?:strictement )?(?:interdit|prohibe|defendu)\\w*|en aucun cas|sous aucun pretexte|evite[zr]?|il ne faut (?:pas|jamais)|pas de|pas d'\\w+",
    ),
    "(?:して|ては|では)(?:は)?(?:いけ|なら|なり)(?:ない|ません)|(?:し)?ないで(?:ください|下さい|くれ)?|禁止|禁じ|してはならない|べきではな|べからず|不可|許可されて(?:い)?(?:ない|ません)|(?:送ら|使わ|消さ|触ら|書か|変え|削除し|送信し|共有し)ない(?:こと|ように)|ないこと|ないようにし?|절대|금지|하지 ?마|마세요|말 ?것|안 ?(?:된다|됩니다|돼)",
    "(?<![а-яё])(?:никогда|нельзя|запрещ\\w*|запрещено|запрещается|не (?:должен|должна|должны|смей|смейте|разрешается|допускается|надо|следует|нужно|[а-яё]+(?:й|йте|и|ите|ь|ьте)))(?![а-яё])",
  ),
  demands: any(
    "必须|必須|务必|務必|应当|應當|应该|應該|须|需(?:要|经|經)|一定要|总是|總是|始终|始終|请(?:始终|总是|一律|务必|每次)|一律|都(?:要|必须|应|应该|需|先|交|报|走|给|发|使用|用|保留|放|存|归|按|标|附|抄送|由|得)|得先|要先|先(?:问|征|确认|询问|获得|经|找)|每次.{0,20}(?:都|要)",
    latin(
      "debes?|deben|debera[ns]?|tienes? que|tienen que|hay que|ha de|es obligatori[oa]|obligatori[oa]s?|es necesario|asegurate|asegurese|siempre|se (?:debe|requiere|exige)n?|(?:los|las) \\w+(?: \\w+){0,3}? (?:van|se (?:pagan|compran|publican|envian|justifican|revisan|guardan|firman|entregan)) (?:al?|en|por|con)|(?:tod[oa]|cada|cualquier) (?:\\w+ ){1,8}?(?:necesita|requiere|exige|pasa|va)n?|(?:todos|todas|cada|cualquier) (?:\\w+ ){1,6}?(?:van|va|necesitan?|requieren?)|requieren? (?:\\w+ ){0,3}(?:aprobacion|autorizacion|permiso|confirmacion|revision|firmas?)|deve[mr]?|deverao?|tem que|precisa[m]?|e obrigatori[oa]|sempre|certifique-se|requer(?:em)?|exige[m]?",
    ),
    latin(
      "muss|musst|mussen|sollst?|sollen|ist (?:pflicht|erforderlich|zwingend)|immer|stets|stelle sicher|bedarf|bedurfen|haben zu|hat zu|doi(?:t|s|vent)|devez|il faut|est (?:obligatoire|requis)e?|toujours|assure-toi|assurez-vous|veille(?:z)? a|est tenu de",
    ),
    "必ず|常に|(?:し|なけれ)ばなら|しなければ|べき|ください(?!か)|すること|반드시|해야|항상|(?<![а-яё])(?:долж(?:ен|на|ны|но)|обязательно|необходимо|всегда|обязан[аы]?|следует|нужно|требуется)(?![а-яё])",
  ),
  bounds: any(
    "只能|只允许|只允許|只可|只用|只在|只走|只发|只给|只向|只对|只收|只写|只部署|只有|不能高于|不得高于|不能超过|仅限|僅限|仅(?:能|可|允许|在|用)|仅|不超过|不超過|不得超过|最多|至多|至少|上限|以内|以內|不少于|未经|未經|除非|除了",
    latin(
      "solo|solamente|unicamente|exclusivamente|como (?:maximo|minimo)|(?:no )?mas de|maximo(?: de)?|limite (?:de|es)|hasta|sin (?:mi|la|el|una|previa|autorizacion|aprobacion|permiso|consultar|preguntar|confirmacion|antes)(?: \\w+){0,2}|a menos que|salvo|excepto|apenas|somente|no maximo|sem (?:minha|a|aprovacao|autorizacao|permissao|perguntar|antes|previa)|a menos que",
    ),
    latin(
      "nur|ausschlie(?:ss|ß)lich|hochstens|maximal|mindestens|nicht mehr als|bis zu|ohne (?:meine|vorherige|ausdruckliche|genehmigung|zustimmung|freigabe|erlaubnis|ruckfrage)|seulement|uniquement|exclusivement|au (?:plus|maximum|moins)|pas plus de|sans (?:mon|ma|l'|accord|autorisation|approbation|permission|demander|validation)",
    ),
    "のみ|だけ|以内|以下|まで|限り|만(?: |$)|이하|최대|только|не более|без (?:моего|согласия|разрешения|одобрения)",
  ),
  prefers: any(
    "(?:称呼|叫)我|优先|優先|尽量|盡量|偏好|最好|更喜欢|我喜欢|我希望|我想要你|宁可",
    latin(
      "(?:el|la) usuari[oa] (?:quiere|prefiere|desea|pide|odia)|prefiero|preferi\\w+|preferente\\w*|me gusta\\w*|en (?:vez|lugar) de|prefiro|de preferencia|em vez de|ich (?:bevorzuge|mochte|hatte gern)|bevorzug\\w*|lieber|statt|je prefere|prefere[rz]?|de preference|plutot que|au lieu de",
    ),
    "できれば|好み|ほうがいい|より好き|предпочита\\w*|предпочтительно|лучше",
  ),
  /** A verb in the form that commands, at the start of a sentence of a file of rules. */
  commands: any(
    "^(?:请|請|先|再|在.{1,24}(?:前|后|时|之前|之后)[,，]?|如果.{1,40}[,，]|当.{1,40}[,，])?(?:请|請|先|应)?(?:使用|保持|遵循|遵守|运行|执行|检查|确保|确认|避免|添加|编写|写|用(?!户|于)|更新|提交|测试|修改|删除|发送|发|联系|询问|报告|记录(?!了)|回复|回答|拒绝|停止|保留|优先|通知|采用|创建|阅读|查看|参考|验证|征得|获得|转交|上报|保护|隐藏)",
    "^(?:(?:por favor|cada vez que|siempre que|a partir de (?:ahora|hoy)|de ahora en adelante|antes de|cuando|si|al|para|despues de|en caso de)\\b(?:[^,]{0,80},)? ?)?(?:usa|use|utiliza|utilice|ejecuta|ejecute|escribe|escriba|manten|mantenga|sigue|siga|verifica|verifique|comprueba|avisa|avise|llama|copia|publica|publique|despliega|despliegue|enmascara|oculta|oculte|cifra|cifre|protege|respeta|conserva|limita|registra|asegura|asegurate|asegurese|anade|agrega|agregue|responde|responda|pide|pida|solicita|solicite|consulta|consulte|envia|envie|pregunta|pregunte|evita|evite|revisa|revise|confirma|confirme|informa|informe|guarda|guarde|documenta|actualiza|haz|haga|rechaza|rechace|redacta|redacte|deriva|derive|escala|escale|pideme|preguntame|avisame|llamame|tratame|dime|respondeme|consultame|informame|enviame|mandame|hablame|notifica|notifique|trata|trate|mantenha|execute|escreva|siga|verifique|adicione|peca|envie|pergunte|confirme|recuse|atualize)(?:lo|la|los|las|le|les|me|nos|selo|sela)?\\b",
    "^(?:bitte )?(?:verwende|verwenden|nutze|nutzen|schreibe|schreib|fuhre|halte|befolge|prufe|frage|frag|sende|stelle|achte|antworte|nenne|lehne|melde|dokumentiere|teste|bestatige)(?: sie)?\\b",
    "^(?:utilise[zr]?|ecri(?:s|vez|re)|execute[zr]?|sui(?:s|vez|vre)|verifie[zr]?|demande[zr]?|envoie|envoyez|envoyer|garde[zr]?|respecte[zr]?|reponds|repondez|repondre|assure[zr]?|ajoute[zr]?|refuse[zr]?|privilegie[zr]?|confirme[zr]?|signale[zr]?|teste[zr]?|documente[zr]?|redige[zr]?|veuillez)\\b",
    "(?:ください|下さい|すること|こと|せよ|しなさい)[。.]?$",
  ),
  asks: any(
    "(?:吗|嗎|呢|么|是否|能不能|可不可以|为什么|怎么|什么时候|哪个|哪些|谁(?!也|都))[^。]{0,12}[。?]?$",
    "^¿|^(?:por que|como|donde|puedo|puedes|podrias|warum|wie|kannst du|konnen sie|pourquoi|comment|peux-tu|pouvez-vous)\\b",
  ),
  local: any(
    "这个|這個|那个|这次|這次|这封|这份|这段|这条|这里|现在就|马上|立刻|一下|刚才|今天|明天|下一步|接下来|先把|帮我|把它|把这|上面的|下面的|这两|这张",
    latin(
      "est[ea] (?:vez|funcion|archivo|carpeta|columna|tabla|hoja|correo|linea|prueba|clase|rama|semana|tarde|manana|parrafo|seccion|mensaje|boton|informe|pagina|error|documento|variable|pr|ticket)|ahora mismo|hoy|manana|por ahora|todavia|aqui|enviaselo|mandaselo|hazlo|este|esto|este mensagem|este arquivo|agora mesmo|hoje|amanha|diese[rsnm]? (?:datei|funktion|mal|mail|test|zeile|woche)|jetzt gleich|heute|morgen|noch|cette (?:fois|fonction|ligne|semaine)|ce (?:fichier|test|message|bug)|maintenant|aujourd'hui|demain|encore",
    ),
    "この(?:関数|ファイル|メール|行|テスト)|今すぐ|今日|明日|今回",
  ),
  recounts: any(
    "从来没|從來沒|没有?.{0,8}过|昨天|上周|上个月|之前.{0,12}(?:了|过)|曾经|本来应该|当时|^(?!别|不要|请不要|不许).*了[。，]?$|忘了",
    latin(
      "nunca (?:\\w+(?:o|i|aron|ieron|aba|ia|ado|ido)|ha|he|han|hemos|hubo|fue|vi|tuve|supe)|ayer|la semana pasada|el (?:mes|ano) pasado|antes (?:tenia|era|habia)\\w*|deberia\\w* haber|habria|dijo|dijeron|me dijo|segun|ontem|semana passada|disse|gestern|letzte (?:woche|nacht)|habe nie|hat nie|hatte|hier soir|la semaine derniere|a dit|aurait",
    ),
    "昨日|先週|した。|でした|ました",
  ),
  /** Subjects that a description has. */
  describes: any(
    "(?:函数|方法|接口|系统|程序|组件|页面|应用|服务|变量|参数|返回值|数据库|按钮|类|该工具|脚本|命令|用户(?!的))[^。，]{0,10}?(?:从不|总是|始终|必须|只|不会|不能|需要|会|一定)",
    "(?<![给向跟和对为])(?:他|她|客户|老板|同事)(?:们)?(?:说|告诉|认为|写|表示|提到|要求|问|从不|总是|必须|应该)|(?:文档|文章|邮件|日志)(?:里|中|上)?(?:说|写|提到|要求|表示)",
    "(?:^|[,;] )(?:la (?:funcion|clase|api|aplicacion|pagina|libreria|tabla|consulta)|el (?:metodo|sistema|servidor|servicio|modulo|componente|cliente|usuario|programa|boton|formulario|documento|correo|jefe|manual)|los (?:usuarios|clientes)|las? (?:usuarias|clientas)|ell[oa]s?|ella|mi (?:jefe|amigo|hermano|colega))(?: \\w+){0,3}? (?:nunca|siempre|solo|no|debe|deben|tiene que|tienen que|dice|dijo)\\b",
    "^(?:die (?:funktion|klasse|api|methode)|das (?:system|programm|modul)|der (?:server|dienst|kunde|nutzer)|er|sie|la (?:fonction|classe|methode)|le (?:systeme|serveur|client|module)|il(?! (?:est|ne|faut|n'))|elle|a (?:funcao|classe)|o (?:sistema|servidor|metodo))\\b",
    "(?:関数|メソッド|システム|サーバー|アプリ|ユーザー|彼|彼女)(?:は|が)",
  ),
} as const
