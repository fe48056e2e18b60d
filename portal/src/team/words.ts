// The texts of the team's pages: members, settings, domains, API tokens, webhooks, audit log.
import type { MessageType } from '@pharos/contract/webhook-message'
import type { DomainCheckResult } from '@pharos/contract/domain'
import { roleLabels } from '@pharos/contract/role'
import type { AdminNeed, Scope } from '@pharos/contract/scope'
import type { DeliveryState, SentType, Webhook } from '@pharos/contract/webhook'

type Named = { readonly label: string; readonly help: string }

/** What a scope lets a program do. */
const scopes: Record<Scope, Named> = {
  'ipam:read': {
    label: 'Read announcements and ASNs',
    help: 'See prefixes, their checks, their state in each region, and their history.',
  },
  'ipam:write': {
    label: 'Change announcements and ASNs',
    help: 'Add and delete prefixes, announce and withdraw them, upload letters.',
  },
  'dns:read': {
    label: 'Read DNS',
    help: 'See zones with their records, history and DNSSEC, and the names of addresses.',
  },
  'dns:write': {
    label: 'Change DNS',
    help: 'Change records and reverse DNS, zones and DNSSEC.',
  },
  'inventory:read': {
    label: 'Read the inventory',
    help: 'See the services, prefixes and ASNs of the team.',
  },
  'lighthouse:read': {
    label: 'Read security events',
    help: 'See attacks with their rates, sources and targets, also as a live stream.',
  },
  'lighthouse:write': {
    label: 'Review security events',
    help: 'Acknowledge events, mark false positives and comment.',
  },
  'shield:read': {
    label: 'Read shield rules',
    help: 'See the rules with their hits, and estimate what rules would drop.',
  },
  'shield:write': {
    label: 'Change shield rules',
    help: 'Replace the rule list of a prefix.',
  },
  'team:read': { label: 'Read team and members', help: 'See the settings, members and domains of the team.' },
  'team:write': {
    label: 'Change team and members',
    help: 'Invite and remove members, change roles, settings and domains.',
  },
  'webhooks:read': { label: 'Read webhooks', help: 'See webhooks and their deliveries, without secrets.' },
  'webhooks:write': {
    label: 'Change webhooks',
    help: 'Add, change, test and delete webhooks, and rotate their secrets.',
  },
  'audit:read': { label: 'Read the audit log', help: 'See who changed what in the team.' },
}

/** The subject of a webhook message. */
const messages: Record<MessageType, Named> = {
  'announcement.status_changed': {
    label: 'Announcement changed its status',
    help: 'A prefix was announced or withdrawn, its checks finished, or it was suspended.',
  },
  'announcement.zombie': {
    label: 'Withdrawn route still visible',
    help: 'Other networks still have a route 15 minutes after it was withdrawn, or no longer do.',
  },
  'announcement.unexpected_origin': {
    label: 'Unexpected origin',
    help: 'Another network announces your prefix or a part of it, or has stopped.',
  },
  'announcement.not_visible': {
    label: 'Announced, but not visible',
    help: 'Hardly any other network sees an announced prefix after 15 minutes, or enough do again.',
  },
  'announcement.other_path': {
    label: 'Announced, but on another path',
    help: 'Other networks see an announced prefix, but none through the provider, or one does again.',
  },
  'validation.failed': {
    label: 'Check failed',
    help: 'A check of a prefix failed, with the object or record to create.',
  },
  'event.started': {
    label: 'Report started',
    help: 'A detector reported a new attack on your networks: one message for each detector.',
  },
  'event.updated': {
    label: 'Report changed',
    help: 'The rate, the targets or the state of a report changed.',
  },
  'event.ended': { label: 'Report ended', help: 'A detector sees the attack no more.' },
  'incident.started': {
    label: 'Attack started',
    help: 'A new attack on your networks, once for all detectors.',
  },
  'incident.updated': {
    label: 'Attack changed',
    help: 'Another detector reported it, or its peak, start or end changed.',
  },
  'incident.ended': { label: 'Attack ended', help: 'An attack is over, with its peak and duration.' },
  'zone.updated': { label: 'Zone changed', help: 'A new version of a zone: who changed how many records.' },
  'zone.status_changed': {
    label: 'Zone changed its status',
    help: 'All name servers have the newest version, or one of them fails.',
  },
  'zone.dnssec_changed': {
    label: 'DNSSEC of a zone changed',
    help: 'A zone was signed or unsigned, or waits for its DS record.',
  },
  'port.status_changed': { label: 'Port up or down', help: 'The state of one of your ports changed.' },
  'cross_connect.status_changed': {
    label: 'Cross connect changed',
    help: 'The state of a cross connect changed: it waits for you, or is connected.',
  },
  'shield.list_changed': {
    label: 'Shield rules changed state',
    help: 'A list was applied, rejected, reverted or held, or rules of it ended.',
  },
  'service.billed': { label: 'Month closed', help: 'The bill of a month is final, with its figures.' },
  'port.bgp_session_changed': {
    label: 'BGP session up or down',
    help: 'A BGP session of a port was established, or has ended.',
  },
  'port.optic_warning': {
    label: 'Module of a port degrades',
    help: 'The light of a port gets weaker, or is close to its limit.',
  },
}

const sentTypes: Record<SentType, string> = {
  ...(Object.fromEntries(Object.entries(messages).map(([type, { label }]) => [type, label])) as Record<
    MessageType,
    string
  >),
  'webhook.test': 'Test message',
}

const deliveryStates: Record<DeliveryState, string> = {
  pending: 'Pending',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Canceled',
}

const disabledReasons: Record<NonNullable<Webhook['disabled_reason']>, string> = {
  user: 'Disabled',
  gone: 'Disabled: the endpoint is gone (410)',
  failing: 'Disabled after 5 days of failures',
}

/** Who acts next, by the last check of a domain that is not verified. */
const domainSteps: Record<DomainCheckResult, string> = {
  valid: 'Nothing to do. The record was found.',
  missing: 'You: create this TXT record where your DNS is managed. We check every minute.',
  mismatch: 'You: the record exists with a different value. Replace it with this one.',
  unavailable: 'You: the name servers of the domain did not respond. Check that they can be reached.',
  claimed:
    'Your provider: the record was found, but another team has already verified this domain. Contact the provider.',
}

/** Actors of the audit log without a name of their own. */
const auditActors: Readonly<Record<string, string>> = {
  staff: 'The provider',
  operator: 'The provider',
  pharos: 'Pharos',
}

/** Actions of the audit log to choose from. */
const auditGroups = [
  { value: 'announcement.*', label: 'Announcements' },
  { value: 'letter.*', label: 'Letters of authorization' },
  { value: 'asn.*', label: 'ASNs' },
  { value: 'member.*', label: 'Members' },
  { value: 'invitation.*', label: 'Invitations' },
  { value: 'team.*', label: 'Team settings' },
  { value: 'domain.*', label: 'Domains' },
  { value: 'api_token.*', label: 'API tokens' },
  { value: 'webhook.*', label: 'Webhooks' },
  { value: 'session.*', label: 'Sign-in and sessions' },
  { value: 'totp.*', label: 'Two-factor authentication' },
  { value: 'notifications.*', label: 'Notification settings' },
  { value: 'authorization.refuse', label: 'Access refused' },
]

const members = (count: number): string => `${count} ${count === 1 ? 'member' : 'members'}`

export const words = {
  cancel: 'Cancel',
  save: 'Save',
  saved: 'Saved.',
  edit: 'Edit',
  delete: 'Delete',

  token: {
    create: 'Create token',
    newTitle: 'Create API token',
    newNote: 'Create one token per program, with only the access that it needs.',
    identity: 'Token',
    id: 'ID',
    state: 'State',
    active: 'Active',
    notActive: 'Inactive',
    inactive: { expired: 'Expired', unused: 'Expired unused' },
    anyNetwork: 'Any',
    lastUsed: 'Last used',
    never: 'Never',
    createdAt: 'Created',
    actions: 'Actions',
    none: 'No API tokens yet',
    things: ['API token', 'API tokens'],
    name: 'Name',
    nameHelp: 'Name the program that uses the token, such as Terraform.',
    expiry: 'Expires',
    expiryHelp: 'The token stops working at 00:00 UTC of that day.',
    unused: 'Expire when unused for',
    unusedHelp: 'Leave empty to keep the token however long it is unused.',
    days: 'days',
    access: 'Access',
    accessHelp: 'A read scope only shows. A write scope also changes: give it to programs that need it.',
    presets: 'Start from',
    preset: {
      read: 'Read only',
      terraform: 'Terraform',
      monitoring: 'Monitoring',
      none: 'Nothing',
    },
    scopes: 'Scopes',
    reading: 'Read',
    writing: 'Write',
    scope: scopes,
    needsAdmin: {
      all: ' The token also needs the role Admin.',
      some: ' Some of this also needs the role Admin.',
      none: '',
    } satisfies Record<AdminNeed, string>,
    admin: 'Act as an admin of the team',
    adminHelp: `Without it a token may do what the role ${roleLabels.editor} may, within the scopes above. With it, also what needs other roles.`,
    network: 'Network',
    networkHelp: 'A token that leaks is of no use outside of these networks.',
    subnets: 'Allowed networks',
    subnetsHelp: 'Addresses or networks from which the token works. Leave empty to allow any.',
    created: (name: string): string => `${name} was created`,
    once: 'Copy the token now. You will not see it again.',
    noun: 'token',
    try: 'Try it',
    tryHelp: 'This request works with the token from a network that you allowed.',
    copyCurl: 'Copy command',
    back: 'All API tokens',
    another: 'Create another',
    editTitle: (name: string): string => `Edit ${name}`,
    fixedScopes: (list: string, isAdmin: boolean): string =>
      `Access: ${list}${isAdmin ? ', as an admin' : ''}. It cannot be changed. Create a new token for other access.`,
    revoke: 'Revoke',
    revokeTitle: (name: string): string => `Revoke ${name}?`,
    revokeText: (name: string): string =>
      `Programs that use ${name} lose access immediately. This cannot be undone.`,
    revoked: (name: string): string => `${name} was revoked.`,
  },

  webhook: {
    add: 'Add webhook',
    url: 'URL',
    urlHelp: 'We send a signed POST request to this address.',
    description: 'Description',
    events: 'Events',
    eventGroups: {
      routing: 'Announcements',
      attacks: 'Attacks and Shield',
      dns: 'DNS',
      inventory: 'Ports and cross connects',
      billing: 'Bills',
    },
    message: messages,
    sent: sentTypes,
    state: deliveryStates,
    disabled: disabledReasons,
    isDisabled: 'Disabled',
    failing: 'Failing',
    enabled: 'Enabled',
    noneTitle: 'No webhooks yet',
    noneText:
      'Notify your systems when a prefix changes, a check fails or an attack starts or ends. Messages are signed and retried for three days.',
    all: 'All webhooks',
    one: 'Webhook',
    things: ['webhook', 'webhooks'],
    stateTitle: 'State',
    never: 'Never',
    sends: 'Send messages',
    eventsOf: (count: number): string => `${count} ${count === 1 ? 'kind' : 'kinds'}`,
    editTitle: 'Edit webhook',
    secretOnce:
      'Copy the secret now. You will not see it again. Your program verifies the signatures with it.',
    noun: 'secret',
    rotate: 'Rotate secret',
    rotateTitle: 'Rotate the secret?',
    rotateText: 'Both secrets sign messages for 24 hours, so that you can switch without losing any.',
    deleteTitle: (url: string): string => `Delete the webhook to ${url}?`,
    deleteText: 'Pending messages are dropped and the delivery log is deleted.',
    test: 'Send test',
    delivered: (duration: string): string => `Test delivered in ${duration}.`,
    failed: (reason: string): string => `Test failed: ${reason}`,
    noAnswer: 'no answer',
    lastDelivered: 'Last delivered',
    failingSince: 'Failing since',
    createdAt: 'Created',
    success: 'Success rate',
    successOf: (percent: number, count: number): string => `${percent} % of the last ${count}`,
    successNone: 'No deliveries yet',
    successUnknown: 'Unknown',
    eventsSent: 'Events sent',
    facts: 'Endpoint',
    deliveries: 'Deliveries',
    anyState: 'Any state',
    anyType: 'Any event',
    resend: 'Resend',
  },

  settings: {
    general: 'General',
    generalHelp: (slug: string, count: number): string => `${slug} · ${members(count)}`,
    name: 'Name',
    description: 'Description',
    descriptionHelp: 'Seen by the members of your team and by the provider.',
    country: 'Country',
    zone: 'Time zone',
    contacts: 'Contacts',
    contactsHelp: 'The provider writes to these addresses. They are not published.',
    technical: 'Technical contact',
    technicalHelp: 'For maintenance and problems with your announcements.',
    abuse: 'Abuse contact',
    abuseHelp: 'For reports of abuse from your networks.',
    billing: 'Billing contact',
    billingHelp: 'For invoices.',
    phone: 'NOC phone',
    phoneHelp: 'International, such as +31 20 123 4567.',
    security: 'Security',
    securityHelp: 'Applies to everyone in the team.',
    require: 'Require two-factor authentication',
    requireHelp: 'Members without it can only open their own account until they set it up.',
    asns: 'AS numbers',
    defaultRoles: 'Roles of new members',
    defaultRolesHelp: 'For members who join by a domain, and for invitations without roles.',
  },

  member: {
    invite: 'Invite',
    inviteTitle: 'Invite members',
    inviteAction: 'Send invitations',
    emails: 'E-mail addresses',
    emailsHelp: 'Separate several addresses with a comma or a space. Each gets an invitation of its own.',
    roles: 'Roles',
    rolesOf: (email: string): string => `Roles of ${email}`,
    changeRoles: 'Change roles',
    rolesHelp: 'A member with several roles has the rights of each.',
    rolesChanged: (email: string): string => `The roles of ${email} were changed.`,
    tokensLose: 'API tokens of this member lose what the new roles do not allow.',
    notAdmin: 'Others',
    message: 'Message',
    messageHelp: 'Included in the e-mail.',
    sent: (list: readonly string[]): string =>
      `${list.length === 1 ? 'Invitation' : 'Invitations'} sent to ${list.join(', ')}. The link expires in 7 days.`,
    already: (list: readonly string[]): string =>
      `${list.join(', ')} ${list.length === 1 ? 'is' : 'are'} already invited. To send the e-mail again, use "Send again" in the list.`,
    things: ['member', 'members'],
    none: 'No members yet',
    email: 'E-mail',
    name: 'Name',
    status: 'Status',
    state: { active: 'Active', invited: 'Invited' },
    twoFactor: 'Two-factor',
    on: 'On',
    off: 'Off',
    joined: 'Joined',
    lastSeen: 'Last seen',
    never: 'Never',
    actions: 'Actions',
    actionsFor: (email: string): string => `Actions for ${email}`,
    sendAgain: 'Send again',
    sentAgain: (email: string): string => `Invitation sent to ${email} again. Earlier links no longer work.`,
    cancel: 'Cancel invitation',
    cancelTitle: (email: string): string => `Cancel the invitation to ${email}?`,
    cancelText: 'The link in the e-mail stops working.',
    leave: 'Leave team',
    leaveTitle: 'Leave the team?',
    leaveText: 'Your sessions in this team and the API tokens you created for it are revoked immediately.',
    remove: 'Remove',
    removeTitle: (email: string): string => `Remove ${email}?`,
    removeText: 'Their sessions in this team and the API tokens they created for it are revoked immediately.',
  },

  delivery: {
    things: ['delivery', 'deliveries'],
    one: 'Delivery',
    none: 'No deliveries yet',
    noneText: 'Send a test event, or wait for the next one.',
    created: 'Created',
    type: 'Event type',
    state: 'State',
    attempts: 'Attempts',
    response: 'Response',
    duration: 'Duration',
    next: 'Next attempt',
    messageId: 'Message ID',
    copyId: 'Copy message ID',
    time: 'Time',
    status: 'Status',
    error: 'Error',
    noResponse: 'No response',
    notAttempted: 'Not attempted yet.',
  },

  domain: {
    add: 'Add domain',
    domain: 'Domain',
    help: 'We give you a TXT record that verifies it.',
    join: 'Let people with an address at this domain join automatically',
    joinOf: (domain: string): string => `Let people with an address at ${domain} join automatically`,
    noneTitle: 'No domains yet',
    noneText: 'People with an e-mail address at a verified domain can join without an invitation.',
    verified: 'Verified',
    notVerified: 'Not verified',
    verifiedText: 'Nothing to do. Keep the record: it is checked again.',
    next: domainSteps,
    check: 'Check now',
    checkOf: (domain: string): string => `Check now: ${domain}`,
    remove: 'Remove',
    removeOf: (domain: string): string => `Remove ${domain}`,
    removeTitle: (domain: string): string => `Remove ${domain}?`,
    removeText: 'Existing members stay. New people can no longer join through this domain.',
    recordName: 'TXT record',
    recordValue: 'Value',
    copyName: 'Copy name',
    copyValue: 'Copy value',
    lastChecked: 'Last checked',
    never: 'never',
  },

  audit: {
    things: ['entry', 'entries'],
    what: 'What happened',
    time: 'Time',
    account: 'Account',
    address: 'IP address',
    seal: 'Seal',
    notSealed: 'Not sealed yet',
    credential: 'Credential',
    requestId: 'Request ID',
    action: 'Action',
    user: 'Person',
    target: 'Object',
    allOf: (object: string): string => `All entries about ${object}`,
    addressOrNetwork: 'IP address or network',
    provider: 'The provider',
    automatic: 'Automatic',
    actors: auditActors,
    actionGroups: auditGroups,
    entry: 'Audit entry',
    none: 'No entries yet',
    noMatch: 'No entries match',
    noMatchText: 'Remove a filter or choose another time range.',
  },
} as const
