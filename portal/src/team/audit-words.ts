// Entries of the audit log as people read them: the action by its key, and what changed by the names of fields. Pure.
import type { AuditEntry } from '@pharos/contract/team/audit'

/** Verbs of actions, in the past tense; the noun follows. */
const verbs: Readonly<Record<string, string>> = {
  create: 'Created',
  update: 'Changed',
  delete: 'Deleted',
  restore: 'Restored',
  suspend: 'Suspended',
  resume: 'Resumed',
  revoke: 'Revoked',
  verify: 'Verified',
  expire: 'Expired',
  test: 'Tested',
  upload: 'Uploaded',
  accept: 'Accepted',
  reject: 'Rejected',
  remove: 'Removed',
  disable: 'Disabled',
  enable: 'Enabled',
  drain: 'Drained',
  undrain: 'Undrained',
  add: 'Added',
  end: 'Ended',
  correct: 'Corrected',
  move: 'Moved',
  review: 'Judged',
  order: 'Ordered',
  revert: 'Reverted',
  rotate: 'Rotated',
  transfer: 'Moved',
  share: 'Shared',
  open: 'Opened',
  close: 'Closed',
}

const nouns: Readonly<Record<string, string>> = {
  announcement: 'announcement',
  api_token: 'API token',
  token: 'API token',
  service_account: 'service account',
  view: 'saved view',
  asn: 'ASN',
  webhook: 'webhook',
  domain: 'domain',
  member: 'member',
  invitation: 'invitation',
  letter: 'letter of authorization',
  team: 'team settings',
  user: 'profile',
  session: 'session',
  router: 'router',
  region: 'region',
  approval: 'approval',
  prefix: 'prefix',
  location: 'location',
  service: 'service',
  source: 'detector',
  zone: 'zone',
  recordset: 'record set',
  ptr: 'reverse DNS',
  ptr_template: 'template of reverse DNS',
  dnssec: 'DNSSEC',
  attachment: 'file of a device',
  bill: 'bill',
  blackhole: 'black hole',
  cross_connect: 'cross connect',
  'cross connect': 'cross connect',
  credential: 'credentials of a device',
  detector_threshold: 'threshold of the detector',
  device: 'device',
  dns: 'DNS defaults',
  event: 'attack',
  exporter: 'exporter of flows',
  membership: 'member',
  name_server: 'name server',
  port: 'port',
  provider: 'provider',
  scim_user: 'user of SCIM',
  scim_group: 'group of SCIM',
  scim_token: 'SCIM token',
  restore: 'restore',
  scrubber: 'scrubber',
  shield: 'Shield list',
  staff_token: 'staff token',
  staff_access: 'staff access',
  staff_sign_in: 'sign-in of staff',
  tsig_key: 'TSIG key',
  alert_rule: 'alert rule',
}

/** Actions with a text of their own. */
const actions: Readonly<Record<string, string>> = {
  'session.create': 'Signed in',
  'session.revoke': 'Signed out',
  'session.revoke_all': 'Signed out everywhere',
  'session.switch': 'Switched to this team',
  'session.recover': 'Opened the team with a recovery code',
  'session.refuse': 'Sign-in refused',
  'setup.complete': 'Created the first account of the installation',
  'setup.update': 'Hid or showed the list of what is left to set up',
  'staff.break_glass': 'Staff signed in without their identity provider',
  'staff.access': 'Opened this team as staff',
  'staff.leave': 'Closed this team as staff',
  'session.repeat': 'Session token used twice',
  'session.reuse': 'Old session token used: session ended',
  'token.refuse': 'API token refused',
  'authorization.refuse': 'Access refused',
  'totp.start': 'Started to set up two-factor authentication',
  'totp.enable': 'Turned on two-factor authentication',
  'totp.disable': 'Turned off two-factor authentication',
  'totp.reset': 'Two-factor authentication reset by the provider',
  'totp.refuse': 'Wrong authentication code',
  'passkey.add': 'Added a passkey',
  'passkey.update': 'Renamed a passkey',
  'passkey.delete': 'Removed a passkey',
  'passkey.refuse': 'Passkey not accepted',
  'passkey.cloned': 'Passkey not accepted: a copy of it may exist',
  'sign_in.policy': 'Changed sign-in policy',
  'sign_in.recovery_codes': 'Created recovery codes of the team',
  'session.logout': 'Signed out at the identity provider',
  'scim_token.create': 'Turned on SCIM',
  'scim_token.rotate': 'Rotated SCIM token',
  'scim_token.delete': 'Turned off SCIM',
  'provider.test': 'Tested identity provider',
  'identity.link': 'Linked an identity provider to the account',
  'identity.unlink': 'Unlinked an identity provider',
  'recovery_codes.renew': 'Generated new recovery codes',
  'password.change': 'Changed the password',
  'password.reset': 'Reset the password',
  'email.change': 'Asked for another e-mail address',
  'email.confirm': 'Confirmed the e-mail address',
  'account.create': 'Created the account',
  'account.export': 'Exported the account',
  'account.delete': 'Deleted the account',
  'member.invite': 'Invited member',
  'member.join': 'Joined the team',
  'invitation.withdraw': 'Canceled invitation',
  'user.update': 'Changed their profile',
  'notifications.update': 'Changed their notification settings',
  'notifications.unsubscribe': 'Unsubscribed from mails',
  'membership.create': 'Added member',
  'membership.delete': 'Removed member',
  'letter.upload': 'Uploaded letter',
  'letter.accept': 'Accepted letter',
  'letter.reject': 'Rejected letter',
  'zone.rollback': 'Rolled back zone',
  'zone.import': 'Imported zone file',
  'zone.settings': 'Changed zone settings',
  'zone.transfer': 'Transferred zone',
  'zone.delegation': 'Changed delegation of a zone below',
  'dnssec.rollover': 'Rolled over DNSSEC key',
  'webhook.redeliver': 'Sent a webhook message again',
  'webhook.rotate': 'Rotated the secret of webhook',
  'delivery.replay': 'Processed a delivery again',
  'cross_connect.letter': 'Uploaded letter of cross connect',
  'device.maintenance': 'Changed maintenance of device',
  'device.poll': 'Asked for a poll of device',
  'former_router.gone': 'Gave up former router',
  'restore.decide': 'Decided about differences of restore',
  'restore.withdraw': 'Withdrew announcements after restore',
  'shield.confirm': 'Confirmed rules of',
  'shield.update': 'Changed rules of',
  'traffic.claim': 'Assigned earlier flows to the team',
  'approval.decide': 'Decided about changes that needed approval',
  'audit.expire': 'Deleted old audit entries',
  'audit.missing': 'Audit entries are missing',
}

const sentence = (key: string): string => {
  const text = key.replaceAll(/[._]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Returns an action in words: `Created API token`. An unknown key becomes words. */
export function actionText(action: string): string {
  const known = actions[action]
  if (known !== undefined) return known
  const [noun = '', verb = ''] = action.split('.')
  return verbs[verb] && nouns[noun] ? `${verbs[verb]} ${nouns[noun]}` : sentence(action)
}

type Recorded = Readonly<Record<string, unknown>>

const recordOf = (value: unknown): Recorded =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Recorded) : {}

/** Returns the name of an entry's target: its prefix, address or name; otherwise the noun and the number. */
export function targetText({
  target,
  before,
  after,
}: Pick<AuditEntry, 'target' | 'before' | 'after'>): string {
  const all = { ...recordOf(before), ...recordOf(after) }
  for (const name of ['cidr', 'prefix', 'name', 'email', 'url', 'domain', 'filename', 'asn']) {
    const value = all[name]
    if (typeof value === 'string' && value !== '') return value
    if (name === 'asn' && typeof value === 'number') return `AS${value}`
  }
  return nounText(target)
}

/** Returns the noun and the number of an object: `announcement:42` is "Announcement 42". */
export function nounText(target: string): string {
  const [noun = '', ...rest] = target.split(':')
  const id = rest.join(':')
  if (noun === 'asn') return `AS${id}`
  return nouns[noun] && id !== '' ? `${sentence(nouns[noun])} ${id}` : sentence(target)
}

/** Returns an entry in words; enabling or disabling an announcement has its own words. */
export function entryText(entry: Pick<AuditEntry, 'action' | 'target' | 'before' | 'after'>): string {
  const { enabled } = recordOf(entry.after)
  if (entry.action === 'announcement.update' && typeof enabled === 'boolean')
    return enabled === recordOf(entry.before)['enabled']
      ? 'Changed announcement'
      : `${enabled ? 'Enabled' : 'Disabled'} announcement`
  return actionText(entry.action)
}

const fieldNames: Readonly<Record<string, string>> = {
  cidr: 'Prefix',
  is_admin: 'Admin',
  roles: 'Roles',
  default_roles: 'Roles of new members',
  token_days_max: 'Longest life of new API tokens',
  resources: 'Resources',
  serviceAccountId: 'Service account',
  previous_secret_until: 'Former secret works until',
  may_update: 'May change record sets',
  may_transfer: 'May transfer zones',
  disabled: 'Disabled',
  allowed_subnets: 'Allowed networks',
  max_unused_days: 'Days until unused tokens expire',
  require_2fa: 'Two-factor authentication required',
  noc_phone: 'NOC phone',
  technical_email: 'Technical contact',
  abuse_email: 'Abuse contact',
  billing_email: 'Billing contact',
  origin_asn: 'Origin AS',
  as_set: 'AS-SET',
  auto_join: 'Join automatically',
  url: 'URL',
  email: 'E-mail',
  timezone: 'Time zone',
}

/** Returns the fields of a record as lines of text, by the names that people know, for a comparison. */
export function linesOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const entries = Object.entries(recordOf(value))
  if (entries.length === 0) return `${textOf(value)}\n`
  return entries.map(([name, one]) => `${fieldNames[name] ?? sentence(name)}: ${textOf(one)}\n`).join('')
}

function textOf(value: unknown): string {
  if (value === null || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(textOf).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
