// Why the target of an ALIAS record was not resolved: a closed list of codes, and the sentence of each.

export const aliasReasons = ['unreachable', 'refused', 'no_addresses', 'not_public', 'loop'] as const
export type AliasReason = (typeof aliasReasons)[number]

const texts: Readonly<Record<AliasReason, string>> = {
  unreachable: 'The resolver did not answer in time.',
  refused:
    'The resolver reports an error: the name servers of the target do not answer, or DNSSEC is broken.',
  no_addresses: 'The target does not exist or has no A and AAAA records. Correct the target.',
  not_public: 'All addresses of the target are outside the public internet, where they are not published.',
  loop: 'The target leads back to this record through other ALIAS records. Change one of them.',
}

/** Returns the sentence about a target and the addresses published meanwhile. */
export const aliasReasonText = (reason: AliasReason, hasAddresses: boolean): string =>
  `${texts[reason]} ${hasAddresses ? 'The last known addresses stay published.' : 'No addresses are known yet.'}`
