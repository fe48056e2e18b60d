// Reasons why a state of DNSSEC waits or fails: a closed list of codes with their texts.

export const dnssecReasons = {
  name_servers: 'Not all name servers serve the signed zone yet.',
  caches: 'Resolvers may still have older records of the zone in their caches.',
  ds_missing:
    'The parent does not have the DS record of the current key yet. Enter the DS records at the registrar.',
  ds_removed:
    'The parent no longer has a DS record, so resolvers do not validate the zone. Enter the DS records at the registrar.',
  ds_present: 'The parent still has DS records. Delete them at the registrar.',
  ds_caches:
    'Resolvers may still have the previous DS record, or a key that was validated with it, in their caches.',
  parent_unavailable: 'The servers of the parent zone have not answered alike three times in a row yet.',
  keys_not_readable:
    'The private keys cannot be decrypted: their secret is not in PHAROS_SECRET. The last signatures stay in place.',
  signatures_invalid: 'The published signatures are not valid. The zone is signed again.',
  ds_mismatch:
    'The DS records at the parent belong to none of the keys of the zone, so resolvers that validate fail. Replace them by the DS records shown here.',
} as const
export type DnssecReasonCode = keyof typeof dnssecReasons

/** Returns the sentence of a code. */
export const dnssecReasonText = (code: string): string =>
  Object.hasOwn(dnssecReasons, code) ? dnssecReasons[code as DnssecReasonCode] : code
