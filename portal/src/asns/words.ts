// The texts of ASNs and their verification, in one place to review and translate.
import type { AsnProofMethod } from '@pharos/contract/inventory/asn'

const days = (count: number): string => `${count} ${count === 1 ? 'day' : 'days'}`

/** Inside a sentence. */
const methods: Readonly<Record<AsnProofMethod, string>> = {
  aut_num: 'aut-num',
  dns_txt: 'DNS record',
  roa: 'ROA',
  rdap_email: 'e-mail',
  peeringdb: 'PeeringDB',
}

export const words = {
  list: {
    title: 'ASNs',
    note: 'Verify the ASNs you originate prefixes from. We check each proof again every day.',
    things: ['ASN', 'ASNs'] as const,
    empty: 'No ASNs yet',
    emptyText:
      'Enter your AS number above. We show you what to publish; once we find it, you can add prefixes.',
    add: 'Add ASN',
    continue: 'Continue',
    asn: 'ASN',
    name: 'Name',
    verification: 'Verification',
    since: 'Since',
    expires: 'Expires',
    added: 'Added',
    id: 'ID',
    notVerified: 'Not verified',
    verified: 'Verified',
    number: 'AS number',
    never: 'Never',
    in: (count: number) => `in ${days(count)}`,
  },

  methods: {
    aut_num: 'Aut-num object',
    dns_txt: 'DNS record',
    roa: 'ROA',
    rdap_email: 'E-mail to the registry contact',
    peeringdb: 'PeeringDB',
  } as Readonly<Record<AsnProofMethod, string>>,

  /** Why the method proves something, in a sentence. */
  reasons: {
    aut_num: 'Only the holder of an ASN can change its object at the regional registry.',
    dns_txt: 'Only the holder of a prefix can write into its reverse zone. It does not verify the ASN.',
    roa: 'The holder of a prefix can name any ASN in a ROA. It does not verify the ASN.',
    rdap_email: 'The ASN’s registry contact confirms by e-mail.',
    peeringdb: 'An admin of the network’s PeeringDB entry signs in.',
  } as Readonly<Record<AsnProofMethod, string>>,

  states: {
    valid: 'Verified',
    pending: 'Not checked yet',
    missing: 'Not found',
    unavailable: 'Not available',
    error: 'Error',
    evidence: 'Evidence only',
  },
  badge: {
    provider: 'Verified by the provider',
    by: (method: AsnProofMethod) => `Verified by ${methods[method]}`,
    soon: (verified: string) => `${verified}, expires soon`,
    notVerified: 'Not verified',
    revoked: 'Revoked',
    conflict: 'Your provider decides',
  },

  page: {
    all: 'All ASNs',
    check: 'Check now',
    again: (seconds: number) => `Check again in ${seconds} s`,
    oncePerMinute: 'You can check once a minute. We also check daily.',
    noProof: 'No proof found yet.',
    verified: (asn: number) => `AS${asn} is verified.`,
    copy: 'Copy ASN',
    you: 'you',
    proofs: 'Proofs',
    oneEnough:
      'One proof of the ASN is enough. It is valid for 180 days, and renewed as long as it is published.',
    noneNeeded: 'Nothing to do.',
    notAvailable: 'Not available here',
    checked: 'Checked',
    daily: 'again daily',
    show: 'Show how',
    more: (count: number) => `Show ${count} more`,
    evidence: (text: string) => `Evidence: ${text}`,
    revokedTitle: 'Revoked by the provider',
    revoked: (reason: string) =>
      `${reason} Proofs do not count until the provider verifies the ASN again. Contact the provider.`,
    conflictTitle: 'Cannot be verified here',
    conflict:
      'Your proof is valid, but only your provider can decide who announces with this ASN. Contact your provider.',
    addPrefix: (asn: number) => `Add a prefix with AS${asn}`,
    continueWith: (cidr: string) => `Continue with ${cidr}`,
    announcements: 'View announcements',
  },

  facts: {
    title: 'Verification',
    state: 'State',
    holder: 'Holder',
    registry: 'Registry',
    since: 'Since',
    until: 'Valid until',
    noExpiry: 'No expiry',
    days: (count: number) => `(${days(count)})`,
    renewal: 'Renewal',
    renewed: 'Daily, while the proof stays published',
  },
} as const
