/** What a word does to a rule, whatever the rule is about. */
export type Operator =
  | "not"
  | "concord"
  | "forbid"
  | "require"
  | "should"
  | "soft"
  | "permit"
  | "waive"
  | "only"
  | "beyond"
  | "except"
  | "without"
  | "before"
  | "above"
  | "below"
  | "every"
  | "some"
  | "lapse"
  | "former"
  | "false"
  | "hedge"
  | "rule"
  | "pronoun"
  | "condition"
  | "instead"
  | "amend"
  | "past"
  | "reason"
  | "light"

/** Words of English, Spanish and Chinese in one list; `_` joins the words of a phrase. Accents are gone, as in the view. */
export const operators: Readonly<Record<Operator, string>> = {
  not: "fail fails failing hesitate hesitates neglect omit not never no no_one nobody none nor neither nothing nowhere under_no_circumstances stay_on stays_on remain_on remains_on kept_on keep_on stay_enabled remain_enabled stay_active remain_active leave_on left_on left_intact kept_intact stay_intact remain_intact left_untouched at_no_time in_no_case not_ever no jamas bajo_ningun_concepto en_ningun_caso de_ninguna_manera 不 不得 不能 不可 不要 不准 不许 不应 勿 请勿 切勿 别 绝不 绝不能 绝不得 绝不可 从不 不可以 不允许 不会 并非 不是 没 不应该 不该 一律不得 决不 决不能",
  concord: "nunca ningun ninguna ninguno nadie nada ni tampoco",
  forbid:
    "prevent prevents prevented stop stops stopped keep_from forbidden forbid forbids prohibited prohibit prohibits prohibiting banned ban bans disallowed disallow off_limits refuse decline reject blocked barred unacceptable refrain prohibido prohibida prohibidos prohibidas prohibe prohiben prohibir vetado vetada inadmisible 禁止 严禁 杜绝 拒绝 禁",
  require:
    "at_all_times en_todo_momento not_forget never_forget no_olvides no_olvide no_dejes_de 不要忘记 别忘了 别忘记 must shall required require requires requiring need needs have_to has_to always mandatory obligatory insist insists insisted strictly make_sure ensure ensures necessary obliged be_sure debe deben debes deberan debera tiene_que tienen_que tienes_que hay_que siempre obligatorio obligatoria requiere requieren necesita necesitan exige exigen es_necesario asegurate 必须 务必 一定要 须 需 需要 应当 总是 始终 得 一定 不得不 必需 才能 才可 才可以 方可 方能 后方可 之后方可 要求",
  should: "should ought supposed expected deberia deberian deberias 应 应该 该",
  soft: "try tries trying attempt aim prefer prefers preferred preferably preference preferable ideally if_possible where_possible when_possible whenever_possible as_far_as_possible if_convenient when_convenient where_it_helps if_you_have_time when_practical where_practical if_feasible usually normally generally typically mostly often sometimes probably perhaps maybe avoid avoids avoiding discouraged discourage encouraged recommended recommend recommends suggested suggests suggestion guideline best better nice would_be_good good_idea careful carefully caution cautious consider considers considering mindful reluctant hesitant ideal optionally where_appropriate as_appropriate best_effort at_discretion discretion intenta intentar intente procura procurar procure prefiere preferible preferiblemente preferencia conviene convendria evita evitar evite si_es_posible en_lo_posible a_ser_posible cuando_sea_posible normalmente generalmente habitualmente suele suelen mejor recomendable recomienda aconseja cuidado quiza quizas 尽量 尽可能 最好 建议 推荐 避免 一般 通常 大多 偏好 倾向 如果可能 可能的话 视情况 小心 酌情 原则上",
  permit:
    "tolerable harmless self_service unrestricted at_will as_you_like as_you_please whenever_you_like may can could might allow allows allowed permit permits permitted okay ok fine free_to go_ahead acceptable authorized_to cleared_to welcome_to feel_free puede pueden puedes podra podran podria permite permiten permitido permitida permitidos permitidas autorizado_a esta_bien libre_de 可以 可 允许 准许 能 能够 许可 无妨 即可 放心",
  waive:
    "never_have_to never_need_to need_not not_need not_need_to not_have_to not_required not_mandatory not_necessary no_need not_needed no_requirement not_obligatory unnecessary optional needless not_obliged no_longer_required no_longer_needed no_longer_need no_longer_needs no_longer_have_to not_strictly_required not_necessarily no_hace_falta no_es_necesario no_es_obligatorio no_tiene_que no_tienen_que no_tienes_que no_necesita no_necesitan no_requiere no_requieren opcional innecesario ya_no_hace_falta ya_no_es_necesario ya_no_necesita ya_no_necesitan no_es_preciso 不必 无需 无须 不用 不需要 不需 不一定 可选 不再需要 不须 毋须 毋需 没必要 不强制",
  only: "only solely exclusively just nothing_but nobody_else no_one_else and_nobody_else and_no_one_else nowhere_else solo solamente unicamente exclusivamente y_nadie_mas 只 仅 只能 仅限 只有 只可 仅能 唯一 只允许",
  beyond:
    "outside external externally other_than beyond anywhere_but anyone_but anything_but apart_from aside_from different_from elsewhere non-company fuera fuera_de externo externa externos externas distinto_de distinta_de distintos_de ajeno ajena ajenos 以外 之外 外部 以外的 之外的 外面 除外",
  except:
    "excepted omitted leaving_out minus bar_none not_including not_count not_counted does_not_count do_not_count exempting carve-out carve_out loophole leeway exceptuando quedan_fuera 排除 special_case special_cases exempt exempted exempts excused aside excluded not_counting immune spared exento exentos exenta exentas excluidos excluidas 豁免 不在此列 不算 except unless excluding save_for but_for barring until other_cases exception exceptions excepting salvo excepto a_menos_que a_no_ser_que hasta_que menos excepcion excepciones 除非 除了 例外 除",
  without: "without lacking sin 未经 没有 未 未获 无 未得到 未经过",
  before: "before prior_to ahead_of antes antes_de antes_del antes_de_que 之前 以前 前 先",
  above:
    "more_than over above exceed exceeds exceeding exceeded greater_than higher_than larger_than at_least minimum minimum_of a_minimum_of or_more no_fewer_than no_less_than not_less_than not_fewer_than upwards later_than longer_than mas_de superior superiores_a superior_a supera superan superar por_encima_de al_menos como_minimo minimo excede exceden mayor_de mayor_que 超过 高于 大于 多于 以上 至少 不少于 不低于 超出",
  below:
    "at_most up_to under below less_than fewer_than no_more_than not_more_than no_greater_than maximum maximum_of max a_maximum_of limit limit_of limite tope limited_to capped capped_at cap cap_of lower_than earlier_than sooner_than not_over smaller_than shorter_than como_maximo maximo hasta menos_de inferior inferiores_a inferior_a por_debajo_de menor_de menor_que no_mas_de 最多 至多 不超过 低于 小于 少于 以下 以内 上限 不多于",
  every:
    "all any every each anyone anybody everyone anything whatever whichever whole_time no_exceptions without_exception todo toda todos todas cualquier cualquiera cada sin_excepcion 所有 全部 任何 每 每个 每次 一切 一律 均 都 各",
  some: "esta_semana este_mes this_month this_quarter this_year this_sprint this_weekend 本周 本月 这周 今年 for_now today tonight this_week this_time tomorrow temporarily for_the_moment for_the_time_being por_ahora hoy temporalmente de_momento 暂时 目前 今天 本次 some part_of part certain several partly partially something someone somewhere few most most_of half many selected specific particular only_some twice once thrice two_times una_vez dos_veces 一次 两次 anytime_soon at_some_point mostly algun alguna alguno algunos algunas parte_de parte ciertos ciertas varios varias mucho muchos 部分 某些 有些 一些 个别 大部分 多数 几个",
  lapse:
    "da_igual no_importa will_do leave_it leave_them as_they_are as_it_was scrap overruled undone undo reversed reverse_course backtrack walked_back took_back taken_back rolled_back called_off let_go thrown_away voted_down voted_against ended ends defunct dead_letter not_count_anymore on_second_thought second_thoughts wait_no or_rather stop_following stopped_following no_more_rule levanto anulo derogo cancelo retiro revoco quedo_sin_efecto 收回 搁置 不管了 没用了 scratch strike struck crossed_out decided_against rejected discarded abandoned vetoed dismissed turned_down thrown_out never_mind nevermind is_history ancient_history olvidalo descartada descartado retirada retirado 算了 别管 不用管 不作数 撤回 已撤回 推翻 no_longer not_any_longer not_any_more not_anymore anymore rescinded rescind revoked revoke repealed lifted lift waived waive void voided obsolete deprecated superseded supersedes outdated retired expired abolished cancelled_rule withdrawn overridden override overruled overrule overturned inactive lapsed dropped_rule scrapped ignore ignored disregard disregarded forget not_apply not_applies not_applicable not_in_force not_in_effect not_valid not_binding invalid nullified annulled suspended relaxed loosened not_active out_of_date stopped_applying ceased changed_mind changed_their_mind out_of_force do_not_follow not_follow moot irrelevant not_relevant bypass skip was_removed were_removed been_removed has_been_replaced was_replaced been_dropped was_dropped been_cancelled was_cancelled is_gone is_over discontinued break breaking violate violating breach romper incumplir 违反 anyway not_worry terminated ended ya_no derogado derogada derogadas anulado anulada anuladas revocado revocada levantado levantada obsoleto obsoleta caducado caducada ignora ignorar olvida olvidar no_aplica no_se_aplica no_rige sin_efecto cancelada_la_regla suspendida suspendido sustituida reemplazada 不再 作废 废除 废止 取消了 已取消 撤销 已撤销 失效 过时 已过期 解除 忽略 无视 忘记 不适用 无效 停用 已废弃 废弃 放宽 已改为 终止",
  former:
    "previously formerly former previous earlier old older used_to once_was past in_the_past historical historically originally original legacy before_the_change back_then last_year last_month last_week prior at_first at_the_time had_been until_now until_recently yesterday antes_era anteriormente anterior anteriores antiguo antigua antiguamente era eran solia solian viejo vieja 以前的 曾经 曾 过去 原来 原先 旧 旧的 之前的 此前 先前 原本 以往",
  false:
    "bad poor silly terrible awful stupid dumb ridiculous absurd questionable dubious disputed counterexample antipattern misconception fallacy trick trap bait decoy untrustworthy unreliable not_official unofficial invented imaginary fictional fictitious made-up made_up contested mala malo ridiculo ridicula absurdo absurda dudoso dudosa 荒谬 不可信 编造 opposite sarcastic sarcasm sarcastically ironic ironically parody satire prank hoax spoof nonsense bogus fabricated opuesto 相反 反话 胡说 捏造 false untrue wrong wrongly falsely mistaken mistakenly incorrect myth rumor rumour joke joked joking lie lied misquoted fake pretend pretended denied denies deny doubt doubtful misunderstood kidding misunderstanding error erroneous erroneously not_true not_real not_the_case not_a_rule not_our_rule disproved contrary allegedly supposedly claims claimed falso falsa mentira erroneo erronea equivocado incorrecto broma supuestamente niega nego no_es_cierto 错误 假 虚假 谣言 玩笑 误 不实 谎 据称 声称 不对 误传 并不存在",
  hedge:
    "actually hm hmm oops er en_realidad 其实 competitor competitors rival rivals stranger strangers unrelated somebody_else elsewhere_said overheard gossip hearsay anecdote speculation speculative brainstorm brainstorming debate dream dreamed pretending roleplay role-play game movie film song competidor rumor rumores 传闻 剧本 小说 竞争对手 might_not could_not pending_confirmation not_yet_confirmed spam phishing attacker attackers injected believe believes believed guess guessed assumption rumored another_team another_project other_team other_project propuso propone propuesto sugirio sugiere cree 有人 据说 听说 猜 提出 待定 也许 may_not_want might_not_want example examples e.g for_instance for_example such_as sample hypothetical hypothetically imagine suppose suppose_that what_if proposed proposal propose draft drafted would mentioned mention_of mentions_of discussed discussing discussion talked something_about some_kind_of sort_of kind_of preferences thinking thought idea ideas wondered wonder whether asked_whether maybe_later pending_decision undecided unclear not_sure unsure considered debated tentative placeholder template quiz fiction story novel character poem lyric translate translation test_case unconfirmed por_ejemplo ejemplo hipotetico imagina supon propuesta borrador menciono comento algo_sobre idea 例如 比如 示例 例子 假设 假如 设想 提议 草案 提到 讨论 想法 是否 建议稿 可能",
  rule: "ban_on bans_on the_ban that_ban this_ban rule_about embargo moratorium ban_is ban_was ban_has exception exceptions excepcion excepciones 例外 rule rules policy policies restriction restrictions limit limits constraint constraints instruction instructions requirement requirements guidance guidelines prohibition guardrail regulation directive standing demand regla reglas norma normas politica politicas restriccion restricciones limite limites instruccion instrucciones requisito requisitos prohibicion 规则 政策 规定 限制 要求 指示 指令 约束 准则 制度 规范",
  pronoun:
    "this that these those it its above such the_above that_one esto eso ese esa este aquello lo_anterior lo_dicho ello 这 此 该规则 上述 以上规则 这条 这项 该项 那条 此条 它",
  condition:
    "when whenever if while during once for on at in from after since within as_long_as provided in_case through throughout by about regarding with against among between till cuando si mientras durante para en desde tras despues despues_de despues_del despues_de_que dentro con sobre por entre 如果 若 当 时 期间 在 对于 之后 后 关于 时候 以来",
  instead:
    "rather_than instead_of in_place_of as_opposed_to en_lugar_de en_vez_de y_no 而不是 而非 rather_than_using instead",
  amend:
    "raised increased increase raise changed change updated lowered reduced extended doubled became becomes replaced switched moved new_limit now subido aumentado cambiado actualizado modificado ahora 提高 改为 调整 更新 修改 上调 增加到 改成 现在",
  past: "was were did had has have_been already done ya fue fueron 已 已经 了 过",
  reason:
    "because since_the so_that in_order_to due_to as_the owing_to otherwise therefore porque ya_que para_que debido_a 因为 由于 以便 否则",
  light:
    "注意 any_longer any_more again finally moreover furthermore additionally lastly according the a an of to be is are am been being and or also as there here so then than but do does doing please user agent agents assistant we you your yours i my our ours they them their he she his her who whom which what will way note notes remember reminder important key current currently still active remains remain applies apply applied in_force in_effect follow following followed keep_in_mind context summary session conversation 's said says say told tells wants want asks_that stated states given_by operator system statement critical hard permanent kind people person persons bot cost costs costing priced worth cuesten cuestan own into per via first primero de la el los las un una unos unas al del y o u e que se su sus le les lo me te nos es son ser sea sean esta_claro estar estan hay ha han usuario agente asistente recordar recuerda importante vigente nota dice dijo pidio quiere a como 的 地 了_ 是 把 被 将 给 向 对 与 和 及 或 并 到 于 之 其 由 从 中 里 上 下 个 名 条 请 用户 助手 我们 你 您 他们 我 该 且 而 也 还 即 才 使 让 以 为 所 着 进行 情况 此外 通过 仍 仍然 有效 记住 重要 规 说 表示",
}
