// Whether names have the addresses that refer to them: in the zones of the team, and otherwise in the public DNS. The queries of all requests share
// a limit, so that no batch can use the resolver for itself.
import type { Db } from '../../db/postgres.ts'
import { parseAddress, type Address } from '../../net/address.ts'
import { parentOf, type DomainName } from '../../net/dns/name.ts'
import { parseRdata } from '../../net/dns/rdata/rdata.ts'
import { recordType } from '../../net/dns/type.ts'
import type { AddressResolver, ResolvedAddress } from './address-resolver.ts'
import { readForward } from './reverse.store.ts'

/** A name and the address that it should have. */
export type ForwardClaim = { readonly name: DomainName; readonly address: Address }

export type ForwardCheck = {
  /** Returns for each claim whether the name has the address; null if that could not be found out in time. */
  check(db: Db, teamId: number, claims: readonly ForwardClaim[]): Promise<(boolean | null)[]>
}

export type ForwardCheckOptions = {
  readonly resolver: AddressResolver
  /** Queries that run at the same time, of all requests. */
  readonly queriesMax?: number
  /** For the queries of one request, in milliseconds. */
  readonly timeoutMs?: number
}

/** Checks claims with at most `queriesMax` queries at a time. */
export function createForwardCheck({
  resolver,
  queriesMax = 64,
  timeoutMs = 4_000,
}: ForwardCheckOptions): ForwardCheck {
  const limited = createLimit(queriesMax)
  const familyOf = (address: Address): 4 | 6 => (address.includes(':') ? 6 : 4)
  return {
    async check(db, teamId, claims) {
      const own = await readForward(db, teamId, claims.map(wantedOf))
      const signal = AbortSignal.timeout(timeoutMs)
      const asked = new Map<string, Promise<ReadonlySet<string> | undefined>>()
      const addressesOf = (name: DomainName, family: 4 | 6) => {
        const known = asked.get(`${family} ${name}`)
        if (known) return known
        const answer = limited(() => resolver.resolveAddresses(name, family, signal))
          .then(canonical)
          .catch(() => undefined)
        asked.set(`${family} ${name}`, answer)
        return answer
      }
      return Promise.all(
        claims.map(async ({ name, address }, at) => {
          const { isOwn, isPresent } = own[at]!
          if (isPresent) return true
          // An own zone can have the name by an alias, a wildcard or a delegation.
          const found = await addressesOf(name, familyOf(address))
          return found ? found.has(address) : isOwn ? false : null
        }),
      )
    },
  }
}

const canonical = (found: readonly ResolvedAddress[]): ReadonlySet<string> =>
  new Set(found.map(({ address }) => parseAddress(address)))

function wantedOf({ name, address }: ForwardClaim) {
  const type = address.includes(':') ? recordType.AAAA : recordType.A
  return { name, type, rdata: parseRdata(type, address), above: namesFrom(name) }
}

function namesFrom(name: DomainName): DomainName[] {
  const names: DomainName[] = []
  for (let one: DomainName | undefined = name; one !== undefined; one = parentOf(one)) names.push(one)
  return names
}

/** Returns a function that runs at most `max` tasks at the same time, in the order of the calls. */
function createLimit(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
