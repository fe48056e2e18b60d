// The SQL of the time that a change took to reach the routers: each change is measured once, when its desired state is
// first saved. A router that restarts later changes `since` of the row, but not `settled`. The rule is the same for
// both tables, and written twice, because a statement that is built from arguments cannot be checked.
import { sql } from 'kysely'

/** Gets the milliseconds from the request of each change until the routers of the region showed it, once it is saved. */
export type OnSettled = (tookMs: readonly number[]) => void

/** The state that an update `n` of a row is to have. */
const wanted = sql`case when n.desired then 'announced' else 'withdrawn' end`

const lastChange = sql`ar.changes[cardinality(ar.changes)]`

/** When the black hole was requested, or its end; null if it ends for another reason, without a request. */
const requested = sql`case when n.desired then b.created else least(b.ended, case when b.expires <= now() then b.expires end) end`

/**
 * The new value of `settled` of a row that an update sets to the state `n`. A row that was as desired before, and that has no time, was
 * saved by an older release: `since` is the time. Clocks may differ: a time is never before the request.
 */
export const announcementSettled = sql`
  case when ar.settled >= ${lastChange} then ar.settled
    when ar.state = ${wanted} then greatest(ar.since, ${lastChange})
    when n.state = ${wanted} then greatest(now(), ${lastChange})
    else ar.settled end`

export const blackholeSettled = sql`
  case when br.settled >= ${requested} then br.settled
    when br.state = ${wanted} then greatest(br.since, ${requested})
    when n.state = ${wanted} then greatest(now(), ${requested})
    else br.settled end`

/** The milliseconds of the change if this update of the row has settled it, else null. */
export const announcementTookMs = sql<number | null>`
  case when ar.since = now() and n.state = ${wanted} and ar.settled = greatest(now(), ${lastChange})
    then (extract(epoch from ar.settled - ${lastChange}) * 1000)::float8 end`

export const blackholeTookMs = sql<number | null>`
  case when br.since = now() and n.state = ${wanted} and br.settled = greatest(now(), ${requested})
    then (extract(epoch from br.settled - ${requested}) * 1000)::float8 end`
