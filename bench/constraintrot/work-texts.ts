import type { Language } from "./task.ts"

/** Building blocks of everyday work: requests, lines of tool results, the assistant's findings. `{…}` is filled in by seed. */
export type Domain = {
  readonly tool: string
  readonly path: string
  readonly asks: readonly string[]
  readonly rows: readonly string[]
  readonly findings: readonly string[]
}

const english: readonly Domain[] = [
  {
    tool: "search_tickets",
    path: "queue-{n}",
    asks: [
      "Look through ticket queue {n} and tell me what is behind the late answers.",
      "Which of the tickets of {day} are still open, and who has them?",
    ],
    rows: [
      "ticket T-{id} opened {day} by {name}, waiting {n} hours, product {thing}, last answer from {name}",
      "ticket T-{id} closed after {n} minutes; {name} replaced the {thing} and the customer confirmed it",
      "ticket T-{id}: {name} reports that the {thing} stops after {n} minutes and starts again by itself",
    ],
    findings: [
      "Queue {n} has {n} open tickets; the oldest is T-{id} and {name} has it. Next I compare them with last week.",
      "I found that T-{id} waits for a part from {name}. Done so far: {n} of {n} tickets read. Pending: the {thing} tickets.",
    ],
  },
  {
    tool: "query_ledger",
    path: "ledger/{n}",
    asks: [
      "Sum up the invoices of account {n} for {day}.",
      "Compare the two cost centres of {name} and tell me where the difference comes from.",
    ],
    rows: [
      "{day} invoice {id} cost centre {n} amount {n}.40 paid by {name}",
      "{day} credit note {id} for the {thing}, booked by {name} against centre {n}",
      "{day} transfer {id} between centres {n} and {n}, reason: {thing} moved to another floor",
    ],
    findings: [
      "The total for account {n} is {id}.40; invoice {id} was booked twice and {name} has been told. Next: the credit notes.",
      "The difference of {n}.10 comes from transfer {id}. I updated the sheet of {name}; pending is the {thing}.",
    ],
  },
  {
    tool: "read_log",
    path: "/var/log/app-{n}.log",
    asks: [
      "The job of {day} ended early. Read its log and find the step that failed.",
      "Check whether the {thing} service restarted during the night.",
    ],
    rows: [
      "{day}T03:{n} INFO worker-{n} loaded {n} records of {thing} in {n} ms",
      "{day}T03:{n} WARN worker-{n} retry {n} for batch {id} after a timeout",
      "{day}T03:{n} ERROR worker-{n} batch {id} failed at step {n}: connection closed by peer",
    ],
    findings: [
      "Batch {id} failed at step {n} and was repeated by worker-{n}; the {thing} data is complete. Next I look at the night before.",
      "The service restarted once at 03:{n}. Cause: {id} open handles. Pending: tell {name} and raise the number of handles.",
    ],
  },
  {
    tool: "fetch_page",
    path: "wiki/page-{id}",
    asks: [
      "Collect what our wiki says about the {thing} and when it was last changed.",
      "Read the notes of {name} on the {thing} and make a list of the open questions.",
    ],
    rows: [
      "The {thing} was introduced by {name} in release {n} and is described in chapter {n} of the handbook.",
      "{name} measured {n} units an hour with the {thing}, against {n} before the change of {day}.",
      "Open question {n}: how does the {thing} behave when {n} people use it at the same time? {name} looks into it.",
    ],
    findings: [
      "The page was changed on {day} by {name}; it lists {n} open questions, the first about the {thing}. Next I sort them.",
      "Chapter {n} answers two of the questions. I wrote the list to notes/{id}.md; pending is the answer of {name}.",
    ],
  },
]

const chinese: readonly Domain[] = [
  {
    tool: "search_tickets",
    path: "queue-{n}",
    asks: ["请查看工单队列 {n}，找出回复慢的原因。", "{day} 的工单哪些还没有处理完？"],
    rows: [
      "工单 T-{id}，{day} 由 {name} 提交，已等待 {n} 小时，产品为 {thing}",
      "工单 T-{id} 在 {n} 分钟后关闭，{name} 更换了 {thing}，客户已确认",
      "工单 T-{id}：{name} 反映 {thing} 运行 {n} 分钟后停止，随后自动恢复",
    ],
    findings: [
      "队列 {n} 有 {n} 个未完成工单，最早的是 T-{id}，由 {name} 负责。下一步：与上周比较。",
      "T-{id} 正在等待 {name} 的零件。已完成 {n} 个工单，待处理：{thing} 相关工单。",
    ],
  },
  {
    tool: "query_ledger",
    path: "ledger/{n}",
    asks: ["请汇总账户 {n} 在 {day} 的发票。", "请比较 {name} 的两个成本中心，说明差额来源。"],
    rows: [
      "{day} 发票 {id}，成本中心 {n}，金额 {n}.40，经办人 {name}",
      "{day} 贷项通知 {id}，对应 {thing}，由 {name} 记入中心 {n}",
      "{day} 转账 {id}，从中心 {n} 到中心 {n}，原因：{thing} 搬到另一层",
    ],
    findings: [
      "账户 {n} 的合计为 {id}.40，发票 {id} 重复入账，已告知 {name}。下一步：贷项通知。",
      "差额 {n}.10 来自转账 {id}。已更新 {name} 的表格，待处理：{thing}。",
    ],
  },
]

const spanish: readonly Domain[] = [
  {
    tool: "search_tickets",
    path: "queue-{n}",
    asks: [
      "Revisa la cola de incidencias {n} y dime por qué se responde tarde.",
      "¿Qué incidencias del {day} siguen abiertas y quién las lleva?",
    ],
    rows: [
      "incidencia T-{id} abierta el {day} por {name}, espera {n} horas, producto {thing}",
      "incidencia T-{id} cerrada tras {n} minutos; {name} cambió el {thing} y el cliente lo confirmó",
      "incidencia T-{id}: {name} cuenta que el {thing} se detiene a los {n} minutos y vuelve a arrancar",
    ],
    findings: [
      "La cola {n} tiene {n} incidencias abiertas; la más antigua es T-{id} y la lleva {name}. Siguiente: comparar con la semana pasada.",
      "T-{id} espera una pieza de {name}. Hecho: {n} incidencias leídas. Pendiente: las del {thing}.",
    ],
  },
  {
    tool: "query_ledger",
    path: "ledger/{n}",
    asks: [
      "Suma las facturas de la cuenta {n} del {day}.",
      "Compara los dos centros de coste de {name} y explica la diferencia.",
    ],
    rows: [
      "{day} factura {id} centro {n} importe {n},40 pagada por {name}",
      "{day} abono {id} por el {thing}, registrado por {name} en el centro {n}",
      "{day} traspaso {id} entre los centros {n} y {n}, motivo: el {thing} cambió de planta",
    ],
    findings: [
      "El total de la cuenta {n} es {id},40; la factura {id} estaba repetida y {name} ya lo sabe. Siguiente: los abonos.",
      "La diferencia de {n},10 viene del traspaso {id}. Hoja de {name} actualizada; pendiente: el {thing}.",
    ],
  },
]

export const domains: Readonly<Record<Language, readonly Domain[]>> = { en: english, zh: chinese, es: spanish }

export const people: readonly string[] =
  "Mara Lindqvist,Tomas Okafor,Priya Nandan,Jonas Weber,Aiko Sato,Rafael Duarte,Noor Haddad,Ellen Brandt".split(",")
export const things: readonly string[] =
  "label printer,badge reader,pallet scanner,door sensor,coffee station,route planner,price board,backup drive".split(
    ",",
  )
