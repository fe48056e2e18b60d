// The dependencies of every driver of VRPs.
import type { Log } from '../../runtime/log.ts'

export type VrpContext = {
  readonly log: Log
  readonly now: () => Date
  /** Minimum duration of a suspicious loss before the set is used, in milliseconds. */
  readonly confirmMs: number
}
