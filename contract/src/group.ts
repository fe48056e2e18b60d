// The groups of operations: the tags of the OpenAPI document and the sections of the documentation, in its order.
export const groups = {
  BYOIP:
    'Announcements of your own prefixes (bring your own IP): create them, prove that you may announce them, and enable or disable them in each region.',
  DNS: 'Zones and their record sets, DNSSEC and reverse DNS, published to the name servers of the provider.',
  Inventory: 'The ASNs of the team and the proofs that the team holds them.',
  Analysis: 'Security events that concern the resources of the team.',
  Shield:
    'Ordered rules that allow, drop or limit traffic towards the prefixes of the team, and what they would do.',
  Alerts: 'Rules that watch a series of a chart: they fire if its values are beyond a limit for long enough.',
  Search: 'Everything that the team holds, by address, prefix, ASN, id or name.',
  Webhooks:
    'Signed messages to a URL of the team when something changes, and the deliveries of those messages.',
  Stream: 'The same messages as server-sent events over one open connection.',
  Team: 'The team, its members, invitations and domains.',
  Token: 'API tokens: the credentials of programs. Admins create them in the web application.',
  Audit: 'The audit log: every change in the team, and refused calls.',
  Session: "Sign-in, sessions and the user's own account, for the web application.",
  Ingest: 'Messages of attack detectors to the provider.',
  Operator: "Operations of the provider's staff, over all teams.",
} as const
export type Group = keyof typeof groups

/** Path of the page of a group in the documentation. */
export const groupPath = (group: string): string => `/docs/reference/${group.toLowerCase()}`

/** Path of the section of an operation. */
export const operationPath = ({ name, group }: { readonly name: string; readonly group: Group }): string =>
  `${groupPath(group)}#${name}`
