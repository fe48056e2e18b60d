// The port through which a delta reads the served zone: sets with signatures, and the chain. Implementations: rows of
// the database, and memory (dns/answer/memory-zone.ts). Each call is for many names, so that a version with thousands
// of changes needs as few queries as a version with a single change.
import type { DomainName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'

export interface ServedIndex {
  /** Returns the sets of each name that has some. */
  at(names: readonly DomainName[]): Promise<ReadonlyMap<DomainName, readonly SignedRrset[]>>
  /** Returns the sets of all names below this one. */
  below(name: DomainName): Promise<readonly SignedRrset[]>
  /** Returns which of `names` have sets at names below them that are not in `except`. */
  withNamesBelow(
    names: readonly DomainName[],
    except: ReadonlySet<DomainName>,
  ): Promise<ReadonlySet<DomainName>>
  /**
   * Returns for each name the NSEC or NSEC3 set of the last owner before it in canonical order; wraps around to the
   * last owner of the zone. The name itself does not have to exist.
   */
  previousInChain(type: number, names: readonly DomainName[]): Promise<ReadonlyMap<DomainName, SignedRrset>>
}

/** One set of the served zone, before and after. At least one of the two is given. */
export type ServedChange = { readonly before?: SignedRrset; readonly after?: SignedRrset }
