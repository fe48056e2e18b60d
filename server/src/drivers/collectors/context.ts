// The dependencies of every driver of visibility.
import type { Log } from '../../runtime/log.ts'

export type CollectorContext = {
  readonly log: Log
  readonly now: () => Date
  /** The provider's ASN, which a simulation puts into its paths; null if it is not known. */
  readonly ourAsn: number | null
}
