// ASNs that only the provider can verify: a proof of the team holds, and the ASN is neither verified nor revoked. Pure.
import type { AsnOfTeam } from '@pharos/contract/inventory'

/** Returns the claims with the time of their first valid proof. */
export const asnClaimsOf = (
  asns: readonly AsnOfTeam[],
): readonly { readonly claim: AsnOfTeam; readonly since: string }[] =>
  asns.flatMap((claim) => {
    const valid = claim.evidence.filter(({ state }) => state === 'valid').map(({ checked }) => checked)
    const isOpen = claim.verified === null && claim.revoked === null && valid.length > 0
    return isOpen ? [{ claim, since: valid.toSorted()[0]! }] : []
  })
