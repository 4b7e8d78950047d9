/** One thing that was looked at. */
export type Check = {
  readonly name: string
  readonly state: "ok" | "warn" | "fail"
  readonly says: string
  /** What to do about it, where there is something to do. */
  readonly next?: string
}

export const ok = (name: string, says: string): Check => ({ name, state: "ok", says })
export const warn = (name: string, says: string, next: string): Check => ({ name, state: "warn", says, next })
export const fail = (name: string, says: string, next: string): Check => ({ name, state: "fail", says, next })
