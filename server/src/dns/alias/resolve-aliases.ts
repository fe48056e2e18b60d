// One run of the loop that updates the addresses of ALIAS records: resolves the targets that are due and stores the
// answers. A target that does not answer keeps its addresses and gets a reason.
import type { Db } from '../../db/postgres.ts'
import type { DomainName } from '../../net/dns/name.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { Log } from '../../runtime/log.ts'
import type { AddressResolver } from '../reverse/address-resolver.ts'
import { applyAnswers, withoutAnswer, type AliasOutcome, type FamilyAnswer } from './alias.ts'
import {
  deleteFormerAliases,
  findAliasTarget,
  listDueAliases,
  saveAlias,
  type DueAlias,
} from './alias.store.ts'

export type AliasDeps = {
  readonly db: Db
  readonly resolver: AddressResolver
  /** Whether an address may be published: public addresses, and networks that the provider allows. */
  readonly isAllowed: (address: string) => boolean
  readonly now: () => Date
}

/** Targets resolved in parallel: a query mostly waits for the network. */
const parallel = 64
const batch = 256
/** A longer chain of ALIAS records is not followed: each resolves the next one anyway. */
const chainMax = 20

/** Resolves the targets that are due and returns their number. */
export async function resolveAliases(deps: AliasDeps, log: Log, signal: AbortSignal): Promise<number> {
  await deleteFormerAliases(deps.db)
  const due = await listDueAliases(deps.db, batch)
  const next = due.values()
  const work = async (): Promise<void> => {
    for (const alias of next) {
      signal.throwIfAborted()
      try {
        const outcome = await resolveOne(deps, alias, signal)
        await saveAlias(deps.db, alias, outcome, deps.now())
        if (outcome.reason !== alias.before.reason)
          log.info(
            { zone: alias.zoneId, name: alias.name, reason: outcome.reason },
            outcome.reason === null ? 'ALIAS target resolved again' : 'ALIAS target not resolved',
          )
      } catch (error) {
        signal.throwIfAborted()
        log.error({ zone: alias.zoneId, err: error }, 'ALIAS not stored; the next run is the retry')
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, due.length) }, work))
  return due.length
}

async function resolveOne(deps: AliasDeps, alias: DueAlias, signal: AbortSignal): Promise<AliasOutcome> {
  if (await isLoop(deps.db, alias)) return withoutAnswer(alias.before, 'loop')
  const [a, aaaa] = await Promise.all(
    ([4, 6] as const).map((family) => ask(deps.resolver, alias.target, family, signal)),
  )
  return applyAnswers(alias.before, { a: a!, aaaa: aaaa! }, deps.isAllowed)
}

/** Each of two ALIAS records that lead to each other would keep the last addresses of the other for ever. */
async function isLoop(db: Db, { name, target }: DueAlias): Promise<boolean> {
  let at: DomainName | undefined = target
  for (let step = 0; at !== undefined && step < chainMax; step++) {
    if (at === name) return true
    at = await findAliasTarget(db, at)
  }
  return at !== undefined
}

async function ask(
  resolver: AddressResolver,
  target: DomainName,
  family: 4 | 6,
  signal: AbortSignal,
): Promise<FamilyAnswer> {
  try {
    return await resolver.resolveAddresses(target, family, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof DriverError)) throw error
    return error.kind === 'unreachable' ? 'unreachable' : 'refused'
  }
}
