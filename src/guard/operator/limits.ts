/** Files of a policy directory; rules are written by people. */
export const maxFiles = 500
/** Bytes of one file: a book has as many. */
export const maxFileBytes = 1_000_000
/** Rules of all files and commands together; each stands in every request. */
export const maxRules = 2_000
/** Characters of one rule; a page has half as many. */
export const maxRuleLength = 6_000
/** Characters of a name: of an agent, a session, a deployment, a call. */
export const maxNameLength = 200
/** Characters of a policy that comes by command, its template included. */
export const maxPolicyLength = 50_000
/** Characters of a signed command: the longest policy, escaped and in base64. */
export const maxCommandLength = 500_000
/** Policies added by commands. */
export const maxCommandPolicies = 500
/** Public keys of one channel. */
export const maxKeys = 200
/** Bytes of a key in a file; one of ours has about a hundred. */
export const maxKeyBytes = 10_000
/** How long a command may be good for: long enough to carry it to another machine by hand. */
export const maxLifetimeMs = 7 * 86_400_000
/** How far the clock of whoever signs may go ahead of ours. */
export const maxSkewMs = 60_000
/** The last moment that a date can say. */
export const latestMs = 8.64e15
