// Examples of ASNs and their proofs.
import { asnProofReasonText } from '../reason/asn-proof-reason.ts'
import { example } from '../example.ts'
import { changesBetween } from '../field-change.ts'
import {
  getAsnRoute,
  listAsnsOfTeamsRoute,
  listAsnsRoute,
  revokeAsnOfTeamRoute,
  verifyAsnOfTeamRoute,
  verifyAsnRoute,
  type AsnOfTeam,
  type AsnProof,
  type HeldAsn,
} from '../inventory/asn.ts'
import { team, teamReference, web } from './world.ts'

const asn = web.origin_asn
const proofToken = 'pharos-asn-verify=hV3nQ8xK2mR7tYw5'
const verified = '2026-03-01T15:30:22.640Z'
const expires = '2026-08-28T15:30:22.640Z'

const attrs = { asn, source: 'RIPE' }
const proof: AsnProof = {
  method: 'aut_num',
  proves: 'asn',
  state: 'valid',
  reason: 'aut_num_found',
  attrs,
  note: asnProofReasonText('aut_num_found', attrs),
  instructions: `Add this line to the aut-num object of AS${asn}:\nremarks: ${proofToken}`,
  steps: [
    {
      text: `Add this line to the aut-num object of AS${asn}.`,
      lines: [`remarks: ${proofToken}`],
      needs: 'all',
    },
  ],
  token: proofToken,
  evidence: { source: 'RIPE', object: `AS${asn}` },
  checked: '2026-04-01T03:44:51.902Z',
}

const ofTeam: AsnOfTeam = {
  asn,
  team: teamReference,
  verified,
  verified_by: 'aut_num',
  expires,
  revoked: null,
  evidence: [
    {
      method: proof.method,
      proves: proof.proves,
      state: proof.state,
      note: proof.note,
      evidence: proof.evidence,
      checked: '2026-04-01T03:44:51.902Z',
    },
  ],
}

const held: HeldAsn = {
  id: 15,
  asn,
  name: team.name,
  verified,
  verified_by: 'aut_num',
  expires,
  created: '2026-03-01T15:02:10.330Z',
}

const roaAttrs = { asn, prefix: web.cidr }
/** Before the provider's decision: the team has published a proof that does not verify the ASN alone. */
const unverified: AsnOfTeam = {
  ...ofTeam,
  verified: null,
  verified_by: null,
  expires: null,
  evidence: [
    {
      method: 'roa',
      proves: 'address_space',
      state: 'valid',
      note: asnProofReasonText('roa_found', roaAttrs),
      evidence: { prefix: web.cidr },
      checked: '2026-03-01T15:20:07.415Z',
    },
  ],
}
const assigned: AsnOfTeam = { ...unverified, verified, verified_by: 'operator' }

const revocation = {
  at: '2026-04-01T10:30:00.118Z',
  reason: 'The registry assigned the ASN to another organization.',
}
const revoked: AsnOfTeam = {
  ...ofTeam,
  verified: null,
  verified_by: null,
  expires: null,
  revoked: revocation,
}

const decision = { team_id: team.id, reason: 'The holder confirmed it by telephone.' }

export const inventoryExamples = [
  example(listAsnsRoute, {
    query: { verified: true },
    response: {
      results: [held],
      count: 1,
    },
  }),
  example(getAsnRoute, { params: { asn }, response: held }),
  example(verifyAsnRoute, {
    params: { asn },
    query: { method: ['aut_num'], refresh: true },
    response: {
      asn,
      holder: 'LINDHOLM-AS',
      rir: 'RIPE NCC',
      verified,
      verified_by: 'aut_num',
      expires,
      revoked: null,
      conflict: false,
      methods: [proof],
    },
  }),
  example(listAsnsOfTeamsRoute, {
    query: { asn: [asn] },
    response: { results: [ofTeam], count: 1 },
  }),
  example(verifyAsnOfTeamRoute, {
    params: { asn },
    body: decision,
    response: assigned,
    changes: changesBetween(unverified, assigned),
  }),
  example(revokeAsnOfTeamRoute, {
    params: { asn },
    body: { team_id: team.id, reason: revocation.reason },
    response: revoked,
    changes: changesBetween(ofTeam, revoked),
  }),
]
