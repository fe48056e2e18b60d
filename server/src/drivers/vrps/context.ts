// The dependencies of every driver of VRPs.
import type { Log } from '../../runtime/log.ts'

export type VrpContext = {
  readonly log: Log
  readonly now: () => Date
  /** How long a suspicious loss must last before the set is used, in milliseconds. */
  readonly confirmMs: number
}
