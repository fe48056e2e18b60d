// Whether a team may have a zone of a name: the rules of the name, zones of other teams, and holdings for reverse DNS.
import type { ProblemError } from '@pharos/contract/problem'
import type { Trx } from '../../db/postgres.ts'
import { parentOf, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import type { Prefix } from '../../net/prefix.ts'
import { errorAt, fail, failWith } from '../../runtime/error.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { canonicalDomain } from '../../team/domain-name.ts'
import { recordName, recordValues } from '../../team/domain-proof.ts'
import { hasVerifiedDomain, holdsNetwork, readClaim } from './zone.store.ts'
import { requireZoneName, shownZoneName, type ZoneNameRules } from './zone-name.ts'

export type ClaimZoneDeps = {
  readonly rules: ZoneNameRules
  /** For the TXT record that verifies a domain. */
  readonly ring: KeyRing
}

export type ClaimResult = {
  /** Null outside reverse DNS. */
  readonly network: Prefix | null
  /** False: another team has this very name, and the zone waits. */
  readonly isClaimed: boolean
}

/** Throws `invalid` and `zone_claimed`. */
export async function claimName(
  { rules, ring }: ClaimZoneDeps,
  trx: Trx,
  teamId: number,
  name: ZoneName,
  loc: ProblemError['loc'],
): Promise<ClaimResult> {
  const network = requireZoneName(loc, name, rules)
  if (network !== null) {
    await requireHolder(trx, teamId, network, loc)
    const { isSame } = await readClaim(trx, teamId, name)
    if (isSame) throw claimed(ring, teamId, name, loc, false)
    return { network, isClaimed: true }
  }
  const { isSame, isRelated } = await readClaim(trx, teamId, name)
  if (!isSame && !isRelated) return { network, isClaimed: true }
  if (!(await hasVerifiedDomain(trx, teamId, domainsOf(name)))) throw claimed(ring, teamId, name, loc, true)
  return { network, isClaimed: !isSame }
}

async function requireHolder(
  trx: Trx,
  teamId: number,
  network: Prefix,
  loc: ProblemError['loc'],
): Promise<void> {
  if (await holdsNetwork(trx, teamId, network)) return
  throw failWith('invalid', [errorAt(loc, 'zoneNotYours', { cidr: network })])
}

/** The name and its ancestors, as domains of teams are written. */
function domainsOf(name: ZoneName): string[] {
  const names: string[] = []
  for (let one: DomainName | undefined = name; one !== undefined && one !== '.'; one = parentOf(one))
    names.push(shownZoneName(one))
  return names
}

function claimed(ring: KeyRing, teamId: number, name: ZoneName, loc: ProblemError['loc'], canProve: boolean) {
  const zone = shownZoneName(name)
  const domain = canProve ? canonicalDomain(zone) : undefined
  const record = domain && recordName(domain)
  const ctx = domain && {
    record_name: record,
    record_type: 'TXT',
    record_value: recordValues(ring, teamId, domain)[0],
  }
  const { msg } = errorAt(loc, 'prefixHeld')
  return fail(
    'zone_claimed',
    'byOther',
    { zone, record: record ?? null },
    { errors: [{ loc, msg, type: 'zone_claimed', ...(ctx ? { ctx } : {}) }] },
  )
}
