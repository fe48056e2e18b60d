// Whether the stored state of a device is current: a fragment for the stores of devices, ports and sessions.
import { sql } from 'kysely'

/** Intervals of polls, in seconds, before a device counts as unread. */
const unreadAfterSeconds = 180

/**
 * No process has read the device of the state `s` for three intervals since it was due: the stored state may be wrong.
 * A device that does not answer counts as read. Null without a state.
 */
export const isUnread = sql<
  boolean | null
>`(s.next_poll < now() - make_interval(secs => ${sql.lit(unreadAfterSeconds)})
  and (s.lease_until is null or s.lease_until < now()))`
